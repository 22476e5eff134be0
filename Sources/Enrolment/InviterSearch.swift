import Discovery
package import Logging
package import Replication

/// Where the inviter may be, for a newcomer that knows no laptops: at the addresses that its person names, else wherever
/// DNS-SD sees a laptop. It announces nothing.
package actor InviterSearch {
    /// Without avahi nobody is found.
    package struct Outage: Error, Hashable, Sendable {
        /// Why: the first half of a sentence.
        package let reason: String
        /// In the imperative: the second half.
        package let remedy: String
    }

    /// What a person has named is no address.
    package struct NoAddress: Error, Hashable, Sendable {
        /// As it was given.
        package let text: String
    }

    private let named: [PeerAddress]
    private let logger: Logger
    private var found: [String: [PeerAddress]] = [:]
    private var hasFound = false

    /// Looks for nobody before `run`.
    ///
    /// - Parameter named: `HOST:PORT` each, where a person says that the inviter is; with these nobody else is asked, and
    ///   avahi is not needed.
    package init(named: [String], logger: Logger) throws(NoAddress) {
        var addresses: [PeerAddress] = []
        for text in named {
            guard let address = PeerAddress(text) else { throw NoAddress(text: text) }
            addresses.append(address)
        }
        self.named = addresses
        self.logger = logger
    }

    /// Where it may be, as far as is known by now.
    package var addresses: [PeerAddress] { named.isEmpty ? Set(found.values.joined()).sorted() : named }

    /// Looks until the task is cancelled; returns at once where there is nothing to look for.
    ///
    /// - Throws: `Outage` when DNS-SD does not work and has shown nobody.
    package func run() async throws {
        guard named.isEmpty else { return }
        let discovery = ServiceDiscovery(advertisement: nil, logger: logger)
        let outage = await withTaskGroup(of: Void.self, returning: Outage?.self) { group in
            group.addTask { await discovery.run() }
            defer { group.cancelAll() }
            for await event in discovery.events {
                if let outage = noted(event) { return outage }
            }
            return nil
        }
        if let outage { throw outage }
    }

    private func noted(_ event: DiscoveryEvent) -> Outage? {
        switch event {
        case .found(let service):
            hasFound = true
            found[service.instanceName] = service.addresses.map { PeerAddress(host: $0, port: Int(service.port)) }
        case .lost(let name): found[name] = nil
        // Whoever has found somebody may be waiting for a person there.
        case .unavailable(let outage): return hasFound ? nil : Outage(reason: outage.reason, remedy: outage.repair)
        case .available, .advertised: break
        }
        return nil
    }
}
