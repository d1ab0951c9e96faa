import Commands
import Logging
import Model
import NIOSSL
import Observability
import ServiceLifecycle
import Traces

/// The tracing of one node. Exists only where `tracing.endpoint` is set.
struct NodeTracing: Sendable {
    let tracer: GatewayTracer
    let receipts: ReceiptTracing
    /// Sends the spans. It stops after everything that makes some.
    let exporter: any Service

    /// - Parameters:
    ///   - settings: the collector.
    ///   - tls: the authorities of its certificate; nil: those of the system.
    ///   - node: this process.
    ///   - handler: finds the traces of messages.
    ///   - logger: receives the state of the collector.
    init(_ settings: TracingSettings, tls: TLSConfiguration?, node: NodeID, handler: CommandHandler, logger: Logger) {
        let client = CollectorClient(url: settings.url, headers: settings.headers, authorities: tls)
        let exporter = SpanExporter(
            TraceExport(version: GatewayVersion.text, node: "\(node)"),
            send: { await client.send($0) },
            count: { MetricName.traceSpans.count([("end", $0.rawValue)], by: $1) },
            logger: logger
        )
        self.exporter = ExportService(exporter: exporter, client: client)
        tracer = GatewayTracer(sampler: TraceSampler(ratio: settings.sample)) { exporter.ended($0) }
        receipts = ReceiptTracing(tracer: tracer, logger: logger) { tenant, find async throws(StoreError) in
            try await handler.run(find, in: tenant)
        }
    }
}

/// Runs the exporter, and closes its connection afterwards.
private struct ExportService: Service {
    let exporter: SpanExporter
    let client: CollectorClient

    func run() async throws {
        try await exporter.run()
        await client.close()
    }
}
