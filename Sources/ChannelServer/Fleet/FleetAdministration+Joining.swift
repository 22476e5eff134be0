import Enrolment
import Identity
package import Logging
import Storage
import Systemd

/// Lets the server into its fleet by a code that a laptop has printed.
extension FleetAdministration {
    /// How far joining has come.
    package enum JoiningStep: Sendable {
        /// The inviter is looked for; its person is to compare these words.
        case searching(keyWords: String)
        /// The inviter, so called, has proved that it knows the code; its person has not said yes.
        case waiting(inviter: String)
    }

    /// What joining goes by.
    package struct Joining: Sendable {
        let code: InvitationCode
        let search: InviterSearch
        let changesFleet: Bool
        let hostName: String
        let logger: Logger

        /// - Parameters:
        ///   - code: as the inviter reads it.
        ///   - inviters: `HOST:PORT` each, where a laptop may be the inviter; without any it is looked for by DNS-SD.
        ///   - changesFleet: as for `install`.
        ///   - hostName: what the inviter's person reads.
        /// - Throws: `StartProblem`.
        package init(
            code: String, inviters: [String], changesFleet: Bool, hostName: String, logger: Logger
        ) throws(StartProblem) {
            do throws(CodeFault) { self.code = try InvitationCode(code) } catch {
                throw StartProblem(.badData, error.sentence)
            }
            do throws(InviterSearch.NoAddress) { search = try InviterSearch(named: inviters, logger: logger) } catch {
                throw StartProblem(
                    .usage,
                    "'\(error.text)' is no address; write --inviter HOST:PORT, for example lea-laptop.local:7473.")
            }
            self.logger = logger
            self.changesFleet = changesFleet
            self.hostName = hostName
        }
    }

    /// Joins, and installs what the inviter gives as `install` does; a server that runs goes by it within two seconds.
    ///
    /// - Parameter told: is called with each step.
    /// - Throws: `StartProblem`, after which the server belongs to no other fleet than before.
    package func join(
        _ joining: Joining, told: @escaping @Sendable (JoiningStep) -> Void
    ) async throws -> Status {
        let papers = try await store.papers()
        let server = JoiningServer(
            administration: self, key: papers.key, former: await fleet(in: papers), changesFleet: joining.changesFleet)
        let search = joining.search
        let joiner = Joiner(
            server, addresses: { await search.addresses }, hostName: joining.hostName, logger: joining.logger)
        told(.searching(keyWords: KeyWords.of(server.key.publicKey)))
        await joiner.join(by: joining.code)
        do {
            try await withThrowingTaskGroup(of: Bool.self) { group in
                group.addTask {
                    try await search.run()
                    return false
                }
                group.addTask { try await Self.follow(joiner, told) }
                defer { group.cancelAll() }
                // The search ends before the joining only where there is nothing to search.
                while try await group.next() == false {}
            }
        } catch let outage as InviterSearch.Outage {
            await joiner.cancel()
            throw StartProblem(
                .unavailable,
                "\(outage.reason); name the inviting laptop with --inviter HOST:PORT, or \(outage.remedy).")
        }
        return try await status()
    }

    /// - Returns: true.
    private static func follow(_ joiner: Joiner, _ told: (JoiningStep) -> Void) async throws -> Bool {
        for await step in joiner.steps {
            switch step {
            case .nothing, .searching: break
            case .waiting(let inviter): told(.waiting(inviter: inviter))
            case .joined: return true
            case .failed(let failure):
                throw StartProblem(failure.isForGood ? .badData : .tryAgain, failure.sentence)
            }
        }
        throw CancellationError()
    }
}

/// The server as one who joins.
private struct JoiningServer: JoiningDevice {
    let administration: FleetAdministration
    let key: DeviceKey
    /// The fleet that it is of by now.
    let former: FleetTrust?
    let changesFleet: Bool

    var isServer: Bool { true }

    /// Its own fleet may let it in again, for another 400 days.
    func objection(to fleet: FleetTrust) -> String? {
        changesFleet ? nil : FleetAdministration.objection(of: former, to: fleet)?.sentence
    }

    func install(_ pem: String) async throws {
        do {
            _ = try await administration.install(pem, changesFleet: changesFleet)
        } catch let error as StoreError {
            throw StartProblem(.tryAgain, error.explanation)
        }
    }
}
