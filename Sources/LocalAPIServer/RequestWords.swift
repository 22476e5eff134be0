import HTTPTypes
import Hummingbird
import LocalAPI

extension CallerWords {
    init(of request: Request) {
        let text = HTTPField.Name(Self.headerName).flatMap { request.headers[$0] }
        self = text.flatMap(Self.init(rawValue:)) ?? .requests
    }

    /// A sentence of the daemon, which names commands, in these words.
    func told(_ sentence: String) -> String {
        self == .commands ? sentence : RequestWords.told(sentence)
    }

    func told(_ error: APIError) -> APIError {
        self == .commands ? error : APIError(error.code, told(error.message), candidates: error.candidates)
    }

    func told(_ report: BatchReport) -> BatchReport {
        var report = report
        for index in report.results.indices {
            report.results[index].reason = report.results[index].reason.map(told)
        }
        return report
    }
}

/// The words of the command line in what is wrong with a request, and what they are to somebody who sends requests.
///
/// Rules are in modules that know neither: they say what a person can do as `muster` says it, and it is reworded where it goes out.
enum RequestWords {
    static func told(_ sentence: String) -> String {
        var told = ""
        var rest = sentence[...]
        while let start = rest.firstRange(of: "'muster "), let end = rest[start.upperBound...].firstIndex(of: "'") {
            let command = rest[start.upperBound..<end]
            told += rest[..<start.lowerBound]
            told += request(for: command).map { "'\($0)'" } ?? String(rest[start.lowerBound...end])
            rest = rest[rest.index(after: end)...]
        }
        told += rest
        for (option, key) in options { told = told.replacing(option, with: key) }
        return told
    }

    /// - Parameter command: without `muster`; its last word may be the id of what it is about.
    private static func request(for command: Substring) -> String? {
        if let request = requests[String(command)] { return request }
        guard let space = command.lastIndex(of: " ") else { return nil }
        let argument = command[command.index(after: space)...]
        return requests["\(command[..<space]) *"]?.replacing("*", with: argument)
    }

    private static let requests = [
        "backup FILE": "GET /v1/backup",
        "carry out": "POST /v1/carry/out",
        "catalogue": "GET /v1/catalogue",
        "doctor": "GET /v1/doctor",
        "fleet invite": "POST /v1/fleet/invitations",
        "fleet join CODE": "POST /v1/fleet/join",
        "fleet leave": "DELETE /v1/fleet",
        "fleet list": "GET /v1/fleet/devices",
        "fleet request": "request of GET /v1/fleet",
        "fleet revoke": "POST /v1/fleet/revocations",
        "fleet sign": "POST /v1/fleet/certificates",
        "fleet sign --help": "POST /v1/fleet/certificates",
        "item list": "GET /v1/jobs/{job}/items",
        "item note": "POST /v1/jobs/{job}/items/{item}/notes",
        "item restore": "POST /v1/jobs/{job}/items/{item}/restore",
        "item set": "PATCH /v1/jobs/{job}/items/{item}",
        "job assign": "POST /v1/jobs/{job}/assignments",
        "job conflicts": "GET /v1/jobs/{job}/conflicts",
        "job late": "GET /v1/jobs/{job}/late",
        "job late *": "GET /v1/jobs/*/late",
        "job list": "GET /v1/jobs",
        "job show": "GET /v1/jobs/{job}",
        "job show *": "GET /v1/jobs/*",
        "job summary": "GET /v1/jobs/{job}/summary",
        "peers --wide": "GET /v1/peers",
        "peers remove": "DELETE /v1/peers/{address}",
        "queue list": "GET /v1/queue",
        "queue log": "GET /v1/queue/log",
        "queue resume": "POST /v1/queue/resume",
        "queue show": "GET /v1/queue/{token}",
        "session list": "GET /v1/crew",
    ]

    /// With the words around them, since they may stand in what somebody has written as well; the longer ones first.
    private static let options = [
        ("dd --force", "dd force=true to the query"),
        ("add --new", "add \"isNew\": true to the body"),
        ("add --yes if so many", "add \"isConfirmed\": true to the body if so many"),
        ("add --yes", "add confirmed=true to the query"),
        ("as FIELD=VALUE", "in \"fields\""),
        ("with --name", "as \"name\""),
        ("name the daemon's other one with --socket, for which", "ask on the daemon's other one, for which"),
    ]
}
