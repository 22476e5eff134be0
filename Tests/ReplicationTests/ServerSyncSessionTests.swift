import CRDT
import Replication
import Simulation
import Testing

@Suite("One job between a laptop and the server")
struct ServerSyncSessionTests {
    private func vector(_ entries: (UInt128, UInt64, UInt64)...) -> VersionVector {
        VersionVector(
            entries.map {
                VersionVector.Entry(
                    replica: ReplicaID($0.0), head: JournalHead(sequence: $0.1, digest: JournalDigest($0.2)))
            })
    }

    private func run(_ replica: UInt128, _ first: UInt64, _ last: UInt64) -> JournalSegment {
        JournalSegment(
            replica: ReplicaID(replica), first: first, head: JournalHead(sequence: last, digest: JournalDigest(last)),
            bytes: [0])
    }

    private func place(_ directive: ServerSyncSession.Directive) -> (UInt128, UInt64)? {
        switch directive {
        case .fetch(let place), .load(let place), .fetchBranch(let place): (place.replica.value, place.after)
        default: nil
        }
    }

    @Test("The end of a job comes before its journals, whichever side knows of it")
    func removals() {
        let vector = VersionVector([
            VersionVector.Entry(replica: ReplicaID(1), head: JournalHead(sequence: 3, digest: 3))
        ])
        let removal = JobRemoval(name: "Elm Street", heads: vector)
        let (living, ended) = (JobHoldings(vector: vector), JobHoldings(vector: vector, removal: removal))
        var session = ServerSyncSession()
        #expect(session.onVectors(here: living, server: ended) == .takeRemoval(removal))
        #expect(session.onRemoval(true) == .compare)
        #expect(session.onVectors(here: ended, server: ended) == .finished(.settled))
        session = ServerSyncSession()
        #expect(session.onVectors(here: ended, server: JobHoldings()) == .bringRemoval(removal))
        #expect(session.onRemoval(false) == .finished(.refused))
    }

    @Test("A server that was set back is offered its own words before the end of a job, and told of that in any case")
    func wordsBeforeRemoval() {
        let removal = JobRemoval(name: "Elm Street", heads: vector((0, 4, 4), (1, 3, 3)))
        let here = JobHoldings(vector: vector((0, 6, 6), (1, 3, 3)), removal: removal)
        for refusal in [nil, ServerSyncSession.Refusal.ownJournal, .forked(agreed: nil), .other] {
            var session = ServerSyncSession()
            let server = JobHoldings(vector: vector((0, 5, 5)))
            #expect(place(session.onVectors(here: here, server: server)).map { $0 == (0, 5) } == true)
            #expect(session.isServerBehind)
            #expect(session.onLoaded([run(0, 6, 6)]) == .upload([run(0, 6, 6)]))
            if let refusal {
                #expect(session.onRefused(refusal) == .compare)
            } else {
                #expect(place(session.onUploaded()).map { $0 == (0, 6) } == true)
                #expect(session.onLoaded([]) == .compare)
            }
            #expect(session.onVectors(here: here, server: server) == .bringRemoval(removal))
        }
        // What went with the job nobody can bring.
        var session = ServerSyncSession()
        #expect(session.onVectors(here: here, server: JobHoldings(vector: vector((0, 2, 2)))) == .bringRemoval(removal))
    }

    @Test("Of a removed job a fork is brought from where the removal ends: what was before can be read by nobody")
    func forkAfterRemoval() {
        let removal = JobRemoval(name: "Elm Street", heads: vector((1, 36, 36)))
        func holdings(_ digest: UInt64, _ sequence: UInt64) -> JobHoldings {
            JobHoldings(vector: vector((1, sequence, digest)), removal: removal)
        }
        // Both are of one length.
        var session = ServerSyncSession()
        #expect(session.onVectors(here: holdings(1, 37), server: holdings(2, 37)) == .expose)
        #expect(place(session.onExposed(true)).map { $0 == (1, 36) } == true)
        // Here is more, and it does not continue what the server has.
        session = ServerSyncSession()
        #expect(session.onVectors(here: holdings(1, 38), server: holdings(2, 37)) == .expose)
        #expect(place(session.onExposed(true)).map { $0 == (1, 37) } == true)
        #expect(session.onLoaded([run(1, 38, 38)]) == .upload([run(1, 38, 38)]))
        #expect(place(session.onRefused(.forked(agreed: nil))).map { $0 == (1, 36) } == true)
        #expect(session.onLoaded([run(1, 37, 38)]) == .upload([run(1, 37, 38)]))
        #expect(place(session.onUploaded()).map { $0 == (1, 38) } == true)
        // The server has more.
        session = ServerSyncSession()
        let fetch = session.onVectors(here: holdings(1, 37), server: holdings(2, 38))
        #expect(place(fetch).map { $0 == (1, 37) } == true)
        #expect(session.onFetched([run(1, 38, 38)]) == .take(run(1, 38, 38)))
        #expect(session.onTaken(.forked(.empty)) == .expose)
        #expect(place(session.onExposed(true)).map { $0 == (1, 36) } == true)
    }

    @Test("First what the server has comes, run by run, then what it lacks is brought, then both are compared again")
    func bothWays() {
        var session = ServerSyncSession()
        #expect(session.begin() == .compare)
        let here = vector((1, 3, 3), (2, 1, 1))
        let fetch = session.compare(here, vector((0, 2, 2), (1, 1, 1), (2, 1, 1)))
        #expect(place(fetch).map { $0 == (0, 0) } == true)
        #expect(session.onFetched([run(0, 1, 1), run(0, 2, 2)]) == .take(run(0, 1, 1)))
        #expect(session.onTaken(.stored) == .take(run(0, 2, 2)))
        #expect(place(session.onTaken(.stored)).map { $0 == (0, 2) } == true)
        #expect(session.onFetched([]) == .expose)
        #expect(place(session.onExposed(true)).map { $0 == (1, 1) } == true)
        #expect(session.onLoaded([run(1, 2, 2), run(1, 3, 3)]) == .upload([run(1, 2, 2), run(1, 3, 3)]))
        #expect(place(session.onUploaded()).map { $0 == (1, 3) } == true)
        #expect(session.onLoaded([]) == .compare)
        #expect(session.compare(here, here) == .finished(.settled))
    }

    @Test("Nothing is brought before it may be shown")
    func notExposed() {
        var session = ServerSyncSession()
        #expect(session.compare(vector((1, 3, 3)), VersionVector()) == .expose)
        #expect(session.onExposed(false) == .finished(.unfinished))
    }

    @Test("A run that does not fit is brought from where the server says, or from the beginning")
    func refusals() {
        var session = ServerSyncSession()
        _ = session.compare(vector((1, 9, 9)), vector((1, 5, 5)))
        _ = session.onExposed(true)
        _ = session.onLoaded([run(1, 6, 9)])
        #expect(place(session.onRefused(.gap(held: 2))).map { $0 == (1, 2) } == true)
        _ = session.onLoaded([run(1, 3, 9)])
        #expect(place(session.onRefused(.forked(agreed: nil))).map { $0 == (1, 0) } == true)
        _ = session.onLoaded([run(1, 1, 9)])
        let branch = session.onRefused(.forked(agreed: 1))
        guard case .fetchBranch = branch else { Issue.record("\(branch)"); return }
        #expect(place(branch).map { $0 == (1, 1) } == true)
        #expect(session.onFetched([run(1, 2, 5)]) == .giveWay(run(1, 2, 5), after: 1))
        #expect(session.onGaveWay() == .compare)
    }

    @Test("What the server has of a journal and does not continue what is here is a fork: the server says which stays")
    func forkOnTheWayDown() {
        var session = ServerSyncSession()
        let here = vector((1, 7, 7))
        _ = session.compare(here, vector((1, 8, 9)))
        #expect(session.onFetched([run(1, 8, 8)]) == .take(run(1, 8, 8)))
        #expect(session.onTaken(.forked(.empty)) == .expose)
        #expect(place(session.onExposed(true)).map { $0 == (1, 0) } == true)
        _ = session.onLoaded([run(1, 1, 7)])
        #expect(place(session.onRefused(.forked(agreed: 3))).map { $0 == (1, 3) } == true)
        #expect(session.onFetched([run(1, 4, 8)]) == .giveWay(run(1, 4, 8), after: 3))
    }

    @Test("A server that was set back gets its own words before a fork, which it does not settle without them")
    func forkAtServerThatWasSetBack() {
        var session = ServerSyncSession()
        let here = vector((0, 4, 4), (1, 7, 7), (2, 1, 1))
        _ = session.compare(here, vector((0, 2, 2), (1, 8, 9)))
        _ = session.onFetched([run(1, 8, 8)])
        #expect(place(session.onTaken(.forked(.empty))).map { $0 == (0, 2) } == true, "its own words first")
        _ = session.onLoaded([run(0, 3, 4)])
        _ = session.onUploaded()
        #expect(session.onLoaded([]) == .expose)
        #expect(place(session.onExposed(true)).map { $0 == (2, 0) } == true, "then what is forked nowhere")
        _ = session.onLoaded([run(2, 1, 1)])
        _ = session.onUploaded()
        #expect(session.onLoaded([]) == .expose)
        #expect(place(session.onExposed(true)).map { $0 == (1, 0) } == true)
    }

    @Test("A journal that the server never takes does not keep the others from it")
    func oneIsRefused() {
        var session = ServerSyncSession()
        _ = session.compare(vector((1, 1, 1), (2, 1, 1)), VersionVector())
        _ = session.onExposed(true)
        _ = session.onLoaded([run(1, 1, 1)])
        #expect(place(session.onRefused(.other)).map { $0 == (2, 0) } == true)
        _ = session.onLoaded([run(2, 1, 1)])
        _ = session.onUploaded()
        #expect(session.onLoaded([]) == .finished(.refused))
    }

    @Test("A server that says more than this side holds, and something else before it, is told of")
    func forkedChannel() {
        var session = ServerSyncSession()
        let (here, server) = (vector((0, 2, 2)), vector((0, 4, 9)))
        for _ in 1...3 {
            #expect(place(session.compare(here, server)).map { $0 == (0, 2) } == true)
            #expect(!session.isServerBehind)
            #expect(session.onFetched([run(0, 3, 4)]) == .take(run(0, 3, 4)))
            _ = session.onTaken(.forked(JournalHead(sequence: 2, digest: JournalDigest(2))))
            #expect(session.isServerBehind && session.isWhole)
        }
        #expect(!ServerSyncSession(only: .channel).isWhole)
    }

    @Test("A server that was set back is offered its own words, and may leave them")
    func setBack() {
        var session = ServerSyncSession()
        let here = vector((0, 4, 4), (1, 1, 1))
        let load = session.compare(here, vector((0, 2, 2), (1, 1, 1)))
        #expect(session.isServerBehind)
        #expect(place(load).map { $0 == (0, 2) } == true)
        _ = session.onLoaded([run(0, 3, 4)])
        #expect(session.onRefused(.ownJournal) == .compare)
        #expect(!session.hasGivenBack)
        _ = session.compare(here, vector((0, 2, 2), (1, 1, 1)))
        _ = session.onLoaded([run(0, 3, 4)])
        _ = session.onUploaded()
        #expect(session.hasGivenBack)
    }

    @Test("Of one journal only that is brought, once")
    func onlyOne() {
        var session = ServerSyncSession(only: ReplicaID(2))
        #expect(session.compare(vector((1, 1, 1), (2, 3, 3)), vector((2, 1, 1))) == .expose)
        #expect(place(session.onExposed(true)).map { $0 == (2, 1) } == true)
        _ = session.onLoaded([run(2, 2, 3)])
        _ = session.onUploaded()
        #expect(session.onLoaded([]) == .finished(.unfinished))
    }

    @Test("Where the server tells of the laptop's own journals only, all is brought once, and nobody is behind")
    func ownOnly() {
        let here = JobHoldings(vector: vector((0, 5, 5), (1, 3, 3), (2, 4, 4)))
        for isSaidFirst in [true, false] {
            var session = ServerSyncSession()
            var server = JobHoldings(vector: isSaidFirst ? vector((1, 3, 3)) : VersionVector())
            server.isOwnOnly = isSaidFirst
            var directive = session.onVectors(here: here, server: server)
            if !isSaidFirst {
                // Of the server's words, which it does not take, and of its own journal, it says so only when it is brought some.
                _ = session.onLoaded([run(0, 5, 5)])
                directive = session.onRefused(.ownJournal)
            }
            #expect(directive == .expose)
            directive = session.onExposed(true)
            var told = JobHoldings(vector: vector((1, 3, 3)))
            told.isOwnOnly = true
            while case .load = directive {
                guard case .upload = session.onLoaded([run(2, 4, 4)]) else { break }
                _ = session.onUploaded(told)
                directive = session.onLoaded([])
            }
            #expect(directive == .finished(.unfinished), "no second comparison")
            #expect(session.isOwnOnly && !session.isServerBehind && !session.wasWithheld)
        }
        var withheld = ServerSyncSession()
        var server = JobHoldings()
        server.isOwnOnly = true
        let first = withheld.onVectors(here: here, server: server)
        let last = withheld.onExposed(false)
        #expect(first == .expose && last == .finished(.unfinished) && withheld.wasWithheld)
    }

    @Test("Whoever looks again at such a job compares what the server names, and brings nothing else a second time")
    func ownOnlyAgain() {
        let here = JobHoldings(vector: vector((0, 5, 5), (1, 3, 3), (2, 4, 4)))
        var server = JobHoldings(vector: vector((1, 3, 3)))
        server.isOwnOnly = true
        var same = ServerSyncSession(looksAgain: true)
        #expect(same.onVectors(here: here, server: server) == .finished(.settled))
        // It does not say that it knows of the end: it was told once.
        var ended = here
        ended.removal = JobRemoval(name: "Smith", heads: here.vector)
        var first = ServerSyncSession()
        guard case .bringRemoval = first.onVectors(here: ended, server: server) else {
            Issue.record("the end of the job is not told")
            return
        }
        var again = ServerSyncSession(looksAgain: true)
        #expect(again.onVectors(here: ended, server: server) == .finished(.settled))
        // Somebody else has brought another branch, and it is the one that stays (rule R9).
        server.vector = vector((1, 2, 9))
        var forked = ServerSyncSession(looksAgain: true)
        #expect(forked.onVectors(here: here, server: server) == .expose)
        #expect(place(forked.onExposed(true)).map { $0 == (1, 2) } == true)
        _ = forked.onLoaded([run(1, 3, 3)])
        #expect(place(forked.onRefused(.forked(agreed: nil))).map { $0 == (1, 0) } == true)
        _ = forked.onLoaded([run(1, 3, 3)])
        guard case .fetchBranch = forked.onRefused(.forked(agreed: 1)) else {
            Issue.record("the branch that stays is not fetched")
            return
        }
        #expect(forked.onFetched([]) == .finished(.unfinished), "and nothing else is brought")
    }
}

extension ServerSyncSession {
    /// Of a job that lives.
    fileprivate mutating func compare(_ here: VersionVector, _ server: VersionVector) -> Directive {
        onVectors(here: JobHoldings(vector: here), server: JobHoldings(vector: server))
    }
}
