import ArgumentParser

struct CarryCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "carry",
        abstract: "Take work to another laptop on a USB stick, where there is no network between them.",
        discussion: """
            A file is encrypted to one laptop and signed by the one that has written it. What stands in it is taken in by the \
            same rules as over a connection; a second time changes nothing.

            Examples, on the one laptop and then on the other:
              muster carry out /media/stick
              muster carry in /media/stick
            """,
        subcommands: [CarryOutCommand.self, CarryInCommand.self])
}
