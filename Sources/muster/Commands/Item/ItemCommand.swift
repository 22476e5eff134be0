import ArgumentParser
import LocalAPI

struct ItemCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "item",
        abstract: "Add, change, remove, restore and list items of a job.",
        discussion: "Example:\n  muster item set \"Smith, 12 Elm Street\" 2000000000091 room=Hall",
        subcommands: [
            ItemAddCommand.self, ItemSetCommand.self, ItemNoteCommand.self, ItemRemoveCommand.self,
            ItemRestoreCommand.self, ItemListCommand.self, ItemShowCommand.self,
        ])
}

/// The second argument of commands about one item.
struct ItemArgument: ParsableArguments {
    @Argument(
        help: ArgumentHelp(
            "An item's id, the beginning or end of one, or a barcode that one item has.", valueName: "item"),
        completion: Offers.items)
    var reference: String

    func validate() throws {
        if reference.isEmpty { throw ValidationError("Name the item: 'muster item list' shows the items.") }
    }
}

extension ItemArgument {
    /// As somebody has called it, or in the short form of an id.
    var title: String { reference.count == 36 ? ShortIDs.one(reference) : Text.plain(reference) }
}

extension GlobalOptions {
    /// Prints what a writing command made: the id for `item add`, nothing more for people otherwise.
    func report(_ identified: Identified, _ sentence: String) throws {
        identified.amends?.warn()
        if json { try StandardOutput.json(identified) } else { StandardOutput.say(sentence) }
    }
}
