import AnswerShapes
import GatewayHTTP
import Hummingbird
import Model
import Store

/// Deliveries reached, received and read, by version of the client, campaign, and hour of the week.
extension AnalyticsOperations {
    struct CountsInput: FigureFields {
        let from = AnalyticsInputs.from
        let to = AnalyticsInputs.to
        let zone = AnalyticsInputs.zone
        let app = AnalyticsInputs.app
        let format = AnalyticsInputs.format
    }

    struct VersionsInput: FigureFields {
        let from = AnalyticsInputs.from
        let to = AnalyticsInputs.to
        let zone = AnalyticsInputs.zone
        let app = AnalyticsInputs.app
        let by = QueryField.optional(
            "by",
            .list(.word(ClientFacts.Field.self), limit: ClientFacts.Field.allCases.count),
            default: [.appVersion],
            "Split by these facts of the client, comma-separated; default: `appVersion`."
        )
        let format = AnalyticsInputs.format
    }

    /// An answer, with the names of the values of its groups.
    struct Counts: Sendable {
        var range: AnalyticsRange
        var span: CountedSpan
        var names: [String]
        var groups: [CountedGroup]
    }

    static let countColumns: [(name: String, definition: String, value: @Sendable (ReachCounts) -> Int64)] = [
        ("reached", "Deliveries that were accepted or uncertain.", { $0.reached }),
        ("received", "Deliveries whose receipt the app reported.", { $0.received }),
        ("read", "Deliveries that the app reported as read.", { $0.read }),
    ]

    private struct CountLine: Sendable {
        var group: JSONObject
        var counts: ReachCounts
    }

    private static func list(_ name: String, _ members: [(name: String, example: String, text: String)]) -> AnswerShape<
        Counts
    > {
        let group = AnswerShape<JSONObject>(
            "\(name)Group",
            members.map { member in
                .init(
                    member.name,
                    JSONSchema.text(example: member.example).nullable.described(member.text),
                    isRequired: false
                ) { $0[member.name] }
            }
        )
        let line = AnswerShape<CountLine>(
            name,
            [.shape("group", group, "The properties of the group.") { $0.group }]
                + countColumns.map { column in .int64(column.name, column.definition) { column.value($0.counts) } }
        )
        return AnswerShape<Counts>(
            "\(name)s",
            head({ $0.range }, { $0.span }) + [
                .list("groups", line, "The groups with deliveries, the largest first.") { answer in
                    answer.groups.map { group in
                        let values = zip(answer.names, group.values).map { ($0, $1.map { JSON.string($0) } ?? .null) }
                        return CountLine(group: JSONObject(values), counts: group.counts)
                    }
                }
            ]
        )
    }

    static let versionList = list(
        "VersionCount",
        NativeShapes.client.members.map {
            ($0.name, "2.4.3", "A fact of the client, if split by it; null: not reported.")
        }
    )
    static let campaignList = list(
        "CampaignCount",
        [
            ("app", "shop", "The app."), ("campaign", "spring", "The campaign; empty: further ones."),
            ("variant", "b", "The part of the campaign; null: none."),
        ]
    )
    static let hourList = list("HourCount", [("hour", "8", "The hour: 0 is Monday from 00:00, 167 Sunday from 23:00.")])

    private static func operation<Input: FigureFields>(
        _ id: String,
        _ path: String,
        _ summary: String,
        _ input: Input,
        _ names: [String],
        _ list: AnswerShape<Counts>,
        _ question: @escaping @Sendable (NativeCall<Input>) throws(Problem) -> CountedQuestion
    ) -> NativeOperation {
        let example = (names + countColumns.map(\.name)).joined(separator: ",") + "\r\n"
        return NativeOperation(
            id,
            .get,
            "/v1/analytics/\(path)",
            scope: .read,
            summary,
            input: input,
            answers: [.json(list.schema, orCSV: example, "The counts.")]
        ) { (api: NativeAPI) in
            { (call: NativeCall<Input>) async throws(Problem) -> Response in
                try await api.showCounts(call, try question(call), names, list)
            }
        }
    }

    static let versions = operation(
        "showVersionCounts",
        "versions",
        "Count the deliveries reached, received and read by what the SDKs of the devices had reported.",
        VersionsInput(),
        ["appVersion"],
        versionList
    ) { (call) throws(Problem) in
        let named = try call.by
        let fields = ClientFacts.Field.allCases.filter(named.contains)
        return .versions(fields.isEmpty ? [.appVersion] : fields)
    }

    static let campaigns = operation(
        "showCampaignCounts",
        "campaigns",
        "Count the deliveries reached, received and read by campaign and variant.",
        CountsInput(),
        ["app", "campaign", "variant"],
        campaignList
    ) { (_) throws(Problem) in .campaigns }

    static let hours = operation(
        "showHourCounts",
        "hours",
        "Count the deliveries reached, received and read by the hour of the week of the outcome, in the device's time zone.",
        CountsInput(),
        ["hour"],
        hourList
    ) { (_) throws(Problem) in .hours }
}

extension NativeAPI {
    fileprivate func showCounts(
        _ call: NativeCall<some FigureFields>,
        _ question: CountedQuestion,
        _ names: [String],
        _ list: AnswerShape<AnalyticsOperations.Counts>
    ) async throws(Problem) -> Response {
        let range = try await range(call)
        let apps = try call.app
        let span = try await asked { () async throws(StoreError) in try await queries.countedSpan(of: call.tenant) }
        let found = try await asked { () async throws(StoreError) in
            try await queries.counts(question, of: range.days, apps: apps, in: call.tenant)
        }
        guard let found else {
            throw .invalid("to", "makes a question about too many counts: choose a shorter range or fewer apps")
        }
        guard found.count <= PostgresQueryStore.countGroupLimit else {
            throw .invalid(
                "app",
                "makes more than \(PostgresQueryStore.countGroupLimit) groups: choose a shorter range or fewer facts"
            )
        }
        var names = names
        if case .versions(let fields) = question { names = fields.map(\.rawValue) }
        guard try call.format == .csv else {
            return .json(list.json(.init(range: range, span: span, names: names, groups: found)))
        }
        let columns = AnalyticsOperations.countColumns
        return AnalyticsShapes.csv(
            names + columns.map(\.name),
            found.map { group in group.values.map { $0 ?? "" } + columns.map { "\($0.value(group.counts))" } },
            AnalyticsShapes.notes(range.zone, nil, span)
        )
    }
}
