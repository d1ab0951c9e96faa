import AnswerShapes
import Commands
import GatewayHTTP
import Hummingbird
import Model

/// `/v1/apps/{app}/parity`: how well the gateway agrees with the upstreams of an app.
enum ParityOperations {
    static let all = [show]

    struct Shown: Sendable {
        var app: AppID
        var since: Timestamp
        var report: ParityReport
    }

    private static let figure = AnswerShape<ParityFigure>(
        "ParityFigure",
        [
            .word("metric", "The metric.") { $0.metric },
            .int("samples", "The observations.") { $0.samples },
            .int("differences", "The observations that disagree.") { $0.differences },
            .init(
                "agreement",
                JSONSchema.number.nullable.described("The share that agrees; null without observations.")
            ) {
                $0.agreement.map { .number("\($0)") } ?? .null
            },
        ]
    )

    private static let sample = AnswerShape<ParitySample>(
        "ParitySample",
        [
            .word("metric", "The metric.") { $0.metric },
            .text("vendor", "The dialect of the call.", example: "braze") { $0.dialect.rawValue },
            .anyObject("facts", "The difference: the call, the names of fields, and masked answers.") { $0.facts },
        ]
    )

    static let parity = AnswerShape<Shown>(
        "Parity",
        [
            .text("app", "The app.", example: "shop") { $0.app.rawValue },
            .time("since", "The beginning of the first hour that is counted.") { $0.since },
            .list("metrics", figure, "One for each metric with observations.") { $0.report.figures },
            .list("samples", sample, "Differences, at most 20 of each metric, those of the newest hours.") {
                $0.report.samples
            },
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
        return .json(ParityOperations.parity.json(ParityOperations.Shown(app: app, since: since, report: found)))
    }
}
