internal import CDNSSD
import Dispatch
package import Logging

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// Announces this laptop as `_muster._tcp`, or nothing, and says which others are there, through the dns_sd.h of avahi.
///
/// The service is at a host of its own, with a random name: avahi would otherwise name this machine's, which is a person's or a
/// customer's now and then.
///
/// Call `run()` once; it returns when its task is cancelled, after a goodbye to the network. It works without avahi-daemon
/// too: it says so once and picks discovery up when the daemon comes. Idle, it wakes up for nothing; without avahi it tries
/// again every five seconds.
package actor ServiceDiscovery {
    /// What happens, for one reader. Ends when `run()` returns.
    package nonisolated let events: AsyncStream<DiscoveryEvent>

    private let advertisement: Advertisement?
    private let hostName: String
    private let logger: Logger
    private let report: AsyncStream<DiscoveryEvent>.Continuation
    private nonisolated let executor = QueueExecutor(label: "muster.discovery")
    private var machine: DiscoveryMachine
    private lazy var publisher = AddressPublisher(hostName: hostName) { [executor, weak self] in
        executor.queue.async { self?.assumeIsolated { $0.onPublisherEnded() } }
    }
    private var published: Set<QueryID> = []
    /// The last time this machine's addresses could not be read.
    private var isBlind = false
    private var isRefusalTold = false
    private var questions: [QueryID: OpenQuestion] = [:]
    private var closing: [QueryID: OpenQuestion] = [:]
    private var waitsForPublisher = false
    private var whenClosed: CheckedContinuation<Void, Never>?
    private var isRunning = false

    /// A serial queue of its own, since calls of dns_sd.h block on the system bus.
    package nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    /// Announces and asks nothing before `run()`.
    ///
    /// - Parameter advertisement: nil for who only looks.
    package init(advertisement: Advertisement?, logger: Logger) {
        self.advertisement = advertisement
        let label = String(UInt64.random(in: .min ... .max), radix: 16)
        hostName = "muster-\(String(repeating: "0", count: 16 - label.count))\(label).local"
        self.logger = logger
        machine = DiscoveryMachine(advertisement: advertisement)
        (events, report) = AsyncStream.makeStream()
    }

    /// Announces and browses until the task is cancelled.
    package func run() async {
        Self.preparedLibrary
        isRunning = true
        networkChanged()
        carryOut(machine.onStart())
        await untilCancelled()
        isRunning = false
        await closeAll()
        report.finish()
    }

    /// Tells others which addresses this machine has now, if they have changed. `run()` does so when it begins.
    package func networkChanged() {
        guard isRunning, advertisement != nil else { return }
        if let addresses = OwnAddress.all {
            isBlind = false
            return carryOut(machine.onOwnAddresses(OwnAddress.told(of: addresses)))
        }
        if !isBlind {
            isBlind = true
            logger.notice(
                "this machine's addresses cannot be read; other laptops hear of none or of those of before until they can"
            )
        }
        // What is told stays told.
        executor.queue.asyncAfter(deadline: .now() + .seconds(5)) { self.assumeIsolated { $0.networkChanged() } }
    }

    /// Done once in the process, before the library's first use.
    private static let preparedLibrary: Void = {
        // The library otherwise prints on stderr that programs should not use it, in each process that does.
        setenv("AVAHI_COMPAT_NOWARN", "1", 1)
    }()

    private func untilCancelled() async {
        let (silence, continuation) = AsyncStream<Never>.makeStream()
        for await _ in silence {}
        continuation.finish()
    }

    // MARK: Directives

    /// Carries the directives out, and those that follow from what opening a question brings at once.
    private func carryOut(_ directives: [Directive]) {
        var pending = directives[...]
        while let directive = pending.popFirst() {
            switch directive {
            case .open(let id, let query):
                for answer in open(query, as: id) { pending += machine.onAnswer(answer, to: id) }
            case .close(let id):
                close(id)
            case .wake(let alarm, let milliseconds):
                executor.queue.asyncAfter(deadline: .now() + .milliseconds(milliseconds)) {
                    self.assumeIsolated { $0.onAlarm(alarm) }
                }
            case .report(let event):
                log(event)
                report.yield(event)
            }
        }
    }

    private func onAlarm(_ alarm: Alarm) {
        guard isRunning else { return }
        carryOut(machine.onAlarm(alarm))
    }

    // MARK: Questions

    private func open(_ query: Query, as id: QueryID) -> [Answer] {
        if case .publish(let address) = query {
            published.insert(id)
            publisher.publish(address, as: id) { [executor, weak self] answer in
                executor.queue.async { self?.assumeIsolated { $0.onPublished(query, as: id, answer) } }
            }
            return []
        }
        let callbacks = CallbackQueue()
        let (reference, code) = query.put(
            advertisement: advertisement, hostName: hostName, callbacks: callbacks)
        guard let reference else {
            log(query, code: code)
            return [.failed(code: code)]
        }
        let source = DispatchSource.makeReadSource(
            fileDescriptor: muster_socket_of(reference), queue: executor.queue)
        source.setEventHandler { self.assumeIsolated { $0.onReadable(id) } }
        source.setCancelHandler { self.assumeIsolated { $0.onClosed(id) } }
        questions[id] = OpenQuestion(reference: reference, source: source, callbacks: callbacks)
        source.activate()
        return [.opened] + callbacks.empty()
    }

    private func onReadable(_ id: QueryID) {
        guard let question = questions[id] else { return }
        for answer in question.readAnswers() {
            if case .failed(let code) = answer {
                logger.debug("avahi closed a question", metadata: ["query": "\(id.number)", "code": "\(code)"])
            }
            carryOut(machine.onAnswer(answer, to: id))
        }
    }

    private func onPublished(_ query: Query, as id: QueryID, _ answer: Answer) {
        if case .failed(let code) = answer { log(query, code: code) } else { isRefusalTold = false }
        carryOut(machine.onAnswer(answer, to: id))
    }

    private func onPublisherEnded() {
        for id in published.sorted() { carryOut(machine.onAnswer(.failed(code: ErrorCode.unknown), to: id)) }
    }

    /// The socket belongs to the reference, so the source must be done with it before the reference goes.
    private func close(_ id: QueryID) {
        if published.remove(id) != nil { return publisher.withdraw(id) }
        guard let question = questions.removeValue(forKey: id) else { return }
        closing[id] = question
        question.source.cancel()
    }

    private func onClosed(_ id: QueryID) {
        if let question = closing.removeValue(forKey: id) { muster_deallocate(question.reference) }
        if closing.isEmpty, !waitsForPublisher { endClosing() }
    }

    private func onAllWithdrawn() {
        waitsForPublisher = false
        if closing.isEmpty { endClosing() }
    }

    private func endClosing() {
        whenClosed?.resume()
        whenClosed = nil
    }

    private func closeAll() async {
        waitsForPublisher = true
        publisher.withdrawAll { [executor] in
            executor.queue.async { self.assumeIsolated { $0.onAllWithdrawn() } }
        }
        for id in questions.keys { close(id) }
        // The goodbye is a courtesy: whoever stops does not wait for it for ever.
        executor.queue.asyncAfter(deadline: .now() + .seconds(1)) { self.assumeIsolated { $0.endClosing() } }
        await withCheckedContinuation { whenClosed = $0 }
    }

    // MARK: Log

    private func log(_ query: Query, code: Int32) {
        // Whoever is announced and cannot be found wants to know: once, until avahi takes one again.
        if case .publish = query, !isRefusalTold {
            isRefusalTold = true
            logger.notice(
                "avahi does not take this machine's address, so other laptops do not find this one; it is asked again",
                metadata: ["code": "\(code)"])
        }
        logger.debug("could not ask avahi", metadata: ["query": "\(query)", "code": "\(code)"])
    }

    private func log(_ event: DiscoveryEvent) {
        switch event {
        case .available:
            logger.info("discovery is available")
        case .unavailable(let outage):
            logger.warning(
                "discovery is not available", metadata: ["reason": "\(outage.reason)", "remedy": "\(outage.remedy)"])
        case .advertised(let instanceName):
            logger.info("service is announced", metadata: ["instance": "\(instanceName)"])
        case .found(let service):
            logger.debug(
                "service found",
                metadata: [
                    "instance": "\(service.instanceName)", "id": "\(service.id)", "host": "\(service.hostName)",
                    "addresses": "\(service.addresses)", "port": "\(service.port)",
                ])
        case .lost(let instanceName):
            logger.debug("service lost", metadata: ["instance": "\(instanceName)"])
        }
    }
}
