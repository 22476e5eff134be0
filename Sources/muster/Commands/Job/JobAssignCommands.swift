import ArgumentParser
import LocalAPI

struct JobAssignCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "assign",
        abstract: "Put laptops on a job: it then goes to no others.",
        discussion: """
            A job that nobody was put on goes to every laptop of the fleet. The first assignment narrows it to those that are \
            named, and to this laptop. The office's laptops receive every job. A lead or the office can do it.

            Example:
              muster job assign "Smith, 12 Elm Street" anna-laptop ben-laptop
            """)

    @OptionGroup var job: JobArgument
    @OptionGroup var laptops: LaptopArguments
    @OptionGroup var options: GlobalOptions

    func run() async throws {
        try await options.assign(AssignmentRequest(assign: laptops.laptops), job: job.reference)
    }
}

struct JobUnassignCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "unassign",
        abstract: "Take laptops off a job: they get nothing new of it.",
        discussion: """
            What they hold of it stays with them, and what they have written in it is taken from them all the same.

            Example:
              muster job unassign "Smith, 12 Elm Street" ben-laptop
            """)

    @OptionGroup var job: JobArgument
    @OptionGroup var laptops: LaptopArguments
    @OptionGroup var options: GlobalOptions

    func run() async throws {
        try await options.assign(AssignmentRequest(unassign: laptops.laptops), job: job.reference)
    }
}

/// Whom it is about.
struct LaptopArguments: ParsableArguments {
    @Argument(
        help: ArgumentHelp(
            "Names of laptops, their ids, or beginnings of those: see 'muster fleet list'.", valueName: "laptop"),
        completion: Offers.laptops)
    var laptops: [String]
}

extension GlobalOptions {
    fileprivate func assign(_ request: AssignmentRequest, job: String) async throws {
        let assignment = try await withClient { try await $0.assign(request, job: job) }
        if json { return try StandardOutput.json(assignment) }
        StandardOutput.say(assignment.words)
    }
}

extension JobAssignment {
    /// Who receives the job, as a sentence.
    var words: String {
        if isEverybodys { return "Every laptop of the fleet receives this job." }
        let names = laptops.filter(\.isOn).map(\.title)
        if names.isEmpty { return "No laptop is on this job but the office's." }
        return "On this job: \(names.joined(separator: ", "))."
    }
}

extension JobAssignment.Laptop {
    /// As people know it.
    var title: String { Text.plain(name ?? ShortIDs.random(deviceID)) + (isOwn ? " (this one)" : "") }
}
