import ArgumentParser
import LocalAPI

struct JobCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "job",
        abstract: "Create, list, rename, advance, sign off, watch, check, export, audit, assign, archive, remove jobs.",
        discussion: "Example:\n  muster job show \"Smith, 12 Elm Street\"",
        subcommands: [
            JobCreateCommand.self, JobListCommand.self, JobShowCommand.self, JobRenameCommand.self,
            JobAdvanceCommand.self,
            JobSignOffCommand.self, JobWatchCommand.self,
            JobLogCommand.self, JobSummaryCommand.self, JobConflictsCommand.self, JobCheckCommand.self,
            JobExportCommand.self, JobAuditCommand.self,
            JobAssignCommand.self, JobUnassignCommand.self, JobRosterCommand.self, JobLateCommand.self,
            JobArchiveCommand.self, JobRemoveCommand.self,
        ])
}

/// The first argument of most commands.
struct JobArgument: ParsableArguments {
    @Argument(
        help: ArgumentHelp("A job's id, the beginning or end of one, or its exact name.", valueName: "job"),
        completion: Offers.jobs)
    var reference: String

    func validate() throws {
        if reference.isEmpty { throw ValidationError("Name the job: 'muster job list' shows the jobs.") }
    }
}
