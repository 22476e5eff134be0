import ArgumentParser
import LocalAPI

struct MetricsCommand: ListCommand {
    static let configuration = CommandConfiguration(
        commandName: "metrics",
        abstract: "Show the daemon's numbers, for people or for Prometheus.",
        usage: ListOptions.usage("muster metrics [--prometheus]\n      "),
        discussion: """
            \(columns.described()) \
            What ends with _total is counted from the daemon's start. Prometheus can ask the daemon itself, at a port that \
            is off unless musterd is told one (--metrics); or node_exporter reads a file that a timer writes with \
            --prometheus. Examples/metrics has a dashboard for Grafana.

            Examples:
              muster metrics
              muster metrics --prometheus > new.prom && mv new.prom muster.prom
            """)

    @Flag(help: "In the text format of Prometheus.")
    var prometheus = false

    static var columnNames: [String] { columns.map(\.key) }

    @OptionGroup var list: ListOptions
    @OptionGroup var options: GlobalOptions

    func validate() throws {
        guard prometheus, options.json || !list.isUsual else { return }
        throw ValidationError("Prometheus reads its own format: leave --json, --columns, --sort and --wide out.")
    }

    func run() async throws {
        let metrics = try await options.withClient { try await $0.metrics() }
        if prometheus { return StandardOutput.write(Metric.prometheus(metrics)) }
        try options.print(metrics, list, columns: Self.columns, none: "The daemon has no numbers.")
    }

    private static var columns: [ListColumn<Metric>] {
        [
            ListColumn(.whole("METRIC")) { Cell($0.name) },
            ListColumn(.number("VALUE")) { Cell($0.text) },
            ListColumn(.text("WHAT IT IS")) { Cell($0.help) },
        ]
    }
}
