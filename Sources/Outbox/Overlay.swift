package import CRDT
import Inventory

/// What a job looks like to the people who wait for the server: published state with the pending requests merged over it.
///
/// Made on each reading and never stored (rule R8). A request counts as long as its token has no outcome in published
/// state, so it goes in the very snapshot that brings what came of it.
package struct Overlay: Hashable, Sendable {
    /// What the server has said.
    package let published: JobStanding
    /// The same with what is asked for.
    package let shown: JobStanding
    /// Which request is behind a shown value that is not the published one.
    package let pending: [FieldName: MutationToken]

    /// - Parameters:
    ///   - published: of one snapshot with `outcomes` and `requests`.
    ///   - outcomes: the tokens that have an outcome in the channel.
    ///   - requests: those in the job's journals that nobody has withdrawn, in the order of the timeline (rule R7).
    ///   - leftOut: what is not to be shown although the channel does not say so yet: `OutboxMachine.notShown`.
    package init(
        published: JobStanding, outcomes: Set<MutationToken>, requests: [MutationRequest],
        leftOut: Set<MutationToken> = [], kinds: MutationKinds = .all
    ) {
        var shown = published
        var pending: [FieldName: MutationToken] = [:]
        for request in requests where !outcomes.contains(request.token) && !leftOut.contains(request.token) {
            guard let mutation = try? kinds.mutation(of: request) else { continue }
            let values = mutation.overlay(on: shown)
            shown.publish(values)
            for value in values { pending[value.name] = request.token }
        }
        self.published = published
        self.shown = shown
        self.pending = pending.filter { shown[$0.key] != published[$0.key] }
    }
}
