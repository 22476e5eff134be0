/// Everything that is counted from the start of a daemon, in the order in which it is told. A name says what is counted, and
/// nothing of whom it concerns: no job, item, laptop or person is in one, and none has labels.
package enum CounterName: String, CaseIterable, Sendable {
    case commits = "muster_store_commits_total"
    case changesWritten = "muster_changes_written_total"
    case changesReceived = "muster_changes_received_total"
    case changesStored = "muster_changes_stored_total"
    case changesSent = "muster_changes_sent_total"
    case bytesReceived = "muster_links_received_bytes_total"
    case bytesSent = "muster_links_sent_bytes_total"
    case linksOpened = "muster_links_opened_total"
    case linksClosed = "muster_links_closed_total"
    case connectionsRefused = "muster_connections_refused_total"
    case polls = "muster_server_polls_total"
    case pollsFailed = "muster_server_polls_failed_total"
    case requestsDelivered = "muster_requests_delivered_total"

    /// What it is, for people.
    package var help: String {
        switch self {
        case .commits: "Transactions of the store that have changed something."
        case .changesWritten: "Changes that were written at this laptop."
        case .changesReceived: "Changes that came from other laptops, also such as were here already."
        case .changesStored: "Those of them that were new and are durable here."
        case .changesSent: "Changes that were sent to other laptops."
        case .bytesReceived: "What came from other laptops."
        case .bytesSent: "What was sent to other laptops."
        case .linksOpened: "Connections with other laptops that came to stand."
        case .linksClosed: "Those of them that have ended."
        case .connectionsRefused:
            "Connections from outside that were not let in, or ended before a laptop had shown itself."
        case .polls: "How often the server was asked for news."
        case .pollsFailed: "How often it was not reached, or could not be used."
        case .requestsDelivered: "Requests that the server has answered."
        }
    }
}
