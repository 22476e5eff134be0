import ArgumentParser
import LocalAPI

struct MetricsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "metrics",
        abstract: "Show the daemon's numbers, for people or for Prometheus.",
        discussion: """
            What ends with _total is counted from the daemon's start. Prometheus can ask the daemon itself, at a port that \
            is off unless musterd is told one (--metrics); or node_exporter reads a file that a timer writes with \
            --prometheus. Examples/metrics has a dashboard for Grafana.

            Examples:
              muster metrics
              muster metrics --prometheus > muster.prom.new && mv muster.prom.new muster.prom
            """)

    @Flag(help: "In the text format of Prometheus.")
    var prometheus = false

    @OptionGroup var options: GlobalOptions

    func run() async throws {
        let metrics = try await options.withClient { try await $0.metrics() }
        if options.json { return try StandardOutput.json(metrics) }
        if prometheus { return StandardOutput.write(Metric.prometheus(metrics)) }
        var table = Table([.whole("METRIC"), .number("VALUE"), .text("WHAT IT IS")])
        for metric in metrics { table.add([Cell(metric.name), Cell(metric.text), Cell(metric.help)]) }
        table.print(on: .output)
    }
}
