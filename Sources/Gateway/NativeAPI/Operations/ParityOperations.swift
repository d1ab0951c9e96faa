import Adapters
import AnswerShapes
import Commands
import GatewayHTTP
import Hummingbird
import Migrations
import Model

/// `/v1/apps/{app}/parity`: how well the gateway agrees with the upstreams of an app.
enum ParityOperations {
    static let all = [show]

    struct Shown: Sendable {
        var app: AppID
        var since: Timestamp
        var report: ParityReport
        var readings: ParityReadings
    }

    /// The dialects whose devices may have been compared with an export.
    static let dialects = VendorCatalog.product.adapters.map(\.vendor).sorted { $0.rawValue < $1.rawValue }

    static let parity = AnswerShape<Shown>(
        "Parity",
        [
            .text("app", "The app.", example: "shop") { $0.app.rawValue },
            .time("since", "The beginning of the first hour that is counted.") { $0.since },
            .list("metrics", ParityShapes.figure, "One for each metric with observations.") { $0.report.figures },
            .list(
                "samples",
                ParityShapes.sample,
                "Differences, at most 20 of each metric, those of the newest hours."
            ) { $0.report.samples },
            .list("devices", ParityShapes.devices, "The last comparison of an export with the devices, by dialect.") {
                $0.readings.devices
            },
            .list(
                "receipts",
                ParityShapes.receipts,
                "Receipts of both sides' pushes by dialect, at most of the last seven days; none: one side has no pushes."
            ) { $0.readings.receipts },
        ]
    )

    struct ShowInput: InputFields {
        let app = CommonInputs.app
        let since = QueryField.optional(
            "since",
            .time,
            "The beginning; the hour that contains it is counted as a whole. Default: 24 hours ago."
        )
    }

    static let show = NativeOperation(
        "showParity",
        .get,
        "/v1/apps/{app}/parity",
        scope: .read,
        "Show how well the gateway agrees with an app's upstreams, by the calls that it observes.",
        input: ShowInput(),
        answers: [.json(parity.schema, "The figures, and masked differences.")],
        problems: [.notFound],
        NativeAPI.showParity
    )
}

extension NativeAPI {
    /// 24 hours: the last day.
    private static let parityPeriod = Duration.seconds(86_400)

    func showParity(_ call: NativeCall<ParityOperations.ShowInput>) async throws(Problem) -> Response {
        let app = try call.app
        let day = Timestamp(milliseconds: clock.now().milliseconds - Self.parityPeriod.milliseconds)
        let from = try call.since ?? day
        let since = Timestamp(seconds: max(0, from.seconds) / 3600 * 3600)
        let found = try await asked { () async throws(StoreError) in
            try await handler.run(ParityRules.shown(app, since: since), in: call.tenant)
        }
        guard let found else { throw .notFound("no such app") }
        let (meter, dialects, now) = (stores.migrations.meter, ParityOperations.dialects, clock.now())
        let readings = try await asked { () async throws(StoreError) in
            try await meter.readings(of: app, dialects: dialects, in: call.tenant, since: since, now: now)
        }
        let shown = ParityOperations.Shown(app: app, since: since, report: found, readings: readings)
        return .json(ParityOperations.parity.json(shown))
    }
}
