import Adapters
import AnswerShapes
import EngineStore
import Foundation
import GatewayHTTP
import Imports
import Model
import Store

/// The inputs that all questions about figures have.
protocol FigureFields: InputFields {
    var from: InputField<Timestamp?> { get }
    var to: InputField<Timestamp?> { get }
    var zone: InputField<TimeZoneName?> { get }
    var app: InputField<[AppID]> { get }
    var format: InputField<AnalyticsFormat> { get }
}

/// The inputs that all questions about the funnel have.
protocol AnalyticsFields: FigureFields {
    var vendor: InputField<[Vendor]> { get }
    var deviceVendor: InputField<[String]> { get }
    var transport: InputField<[String]> { get }
    var by: InputField<[FunnelGrouping]> { get }
}

enum AnalyticsInputs {
    /// The retention of counts, and therefore the longest range. Unit: days.
    static let dayLimit: Int64 = 400
    /// 20 values per filter.
    static let filterLimit = 20
    /// Two groupings: more make tables that nobody reads.
    static let groupingLimit = 2

    static let from = QueryField.optional(
        "from",
        .time,
        "Messages due at or after this time, to the quarter hour; default: the beginning of the day six days ago."
    )
    static let to = QueryField.optional(
        "to",
        .time,
        "Messages due before this time, to the quarter hour; default: the end of today. At most \(dayLimit) days after `from`."
    )
    static let zone = QueryField.optional(
        "zone",
        .timeZone,
        "The time zone of days; default: that of the app if `app` names one app that has one, else UTC."
    )
    static let app = list("app", .app, "Only these apps, comma-separated.")
    static let vendor = list(
        "vendor",
        .vendor,
        "Only messages that were sent through these vendors' APIs, comma-separated."
    )
    static let deviceVendor = list(
        "deviceVendor",
        InputKind<String>.word(among: dialects),
        "Only deliveries to devices with these vendors' SDKs, comma-separated; `\(FunnelFilter.unknownDialect)`: pending targets of messages of the native API, and those without a device."
    )
    static let transport = list(
        "transport",
        transports,
        "Only deliveries by these transports, comma-separated; `\(CredentialID.upstreamPrefix)CREDENTIAL`: an upstream's; `\(FunnelFilter.observedPrefix)VENDOR`: pushes that the vendor sent by itself; `\(FunnelFilter.noTransport)`: without one."
    )
    static let by = QueryField.optional(
        "by",
        .list(.word(FunnelGrouping.self), limit: groupingLimit),
        default: [],
        "Split the counts by up to two properties, comma-separated."
    )
    static let format = QueryField.optional(
        "format",
        .word(AnalyticsFormat.self),
        default: .json,
        as: .string(AnalyticsFormat.json.rawValue),
        "`csv`: comma-separated values with a line of names; headers such as `X-Zone` and `X-Counted-Until` say what JSON says in `zone` and `countedUntil`."
    )

    private static let dialects =
        VendorCatalog.product.adapters.map(\.vendor.rawValue).sorted() + [FunnelFilter.unknownDialect]

    /// Every transport that `by=transport` returns. A credential may be deleted, and its deliveries are still counted, so that each name of one is accepted.
    private static let transports = InputKind<String>(
        .any(of: [
            .words(fixedTransports),
            JSONSchema([
                "type": "string", "pattern": .string("^\(CredentialID.upstreamPrefix).+$"),
                "maxLength": .int(CredentialID.upstreamPrefix.utf8.count + credentialBytes),
            ]),
        ])
    ) { (json, name) throws(Problem) in
        let text = json.string ?? ""
        let credential = text.dropFirst(CredentialID.upstreamPrefix.count).utf8
        let isUpstream =
            text.hasPrefix(CredentialID.upstreamPrefix) && (1...credentialBytes).contains(credential.count)
            && !credential.contains(0)
        guard isUpstream || fixedTransports.contains(text) else {
            let words = (fixedTransports + ["\(CredentialID.upstreamPrefix)CREDENTIAL"]).joined(separator: ", ")
            throw .invalid(name, "must be one of \(words)")
        }
        return text
    }

    private static let fixedTransports: [String] =
        [FunnelFilter.appleTransport, FunnelFilter.noTransport]
        + VendorCatalog.product.adapters.map { FunnelFilter.observedPrefix + $0.vendor.rawValue }.sorted()
    /// The limit of names of credentials. Unit: bytes.
    private static let credentialBytes = 64

    private static func list<Element: Sendable>(
        _ name: String,
        _ kind: InputKind<Element>,
        _ description: String
    ) -> InputField<[Element]> {
        QueryField.optional(name, .list(kind, limit: filterLimit), default: [], description)
    }
}

extension NativeAPI {
    /// The question of a call. `comparing`: the answer also has the range before, so that its merged days are those of both.
    ///
    /// - Throws: `Problem` when the range is empty or too long.
    func question(
        _ call: NativeCall<some AnalyticsFields>,
        comparing: Bool = false
    ) async throws(Problem) -> FunnelQuestion {
        let range = try await range(call)
        let counted = comparing ? AnalyticsRange(quarters: range.quarters.previous, zone: range.zone) : range
        return FunnelQuestion(
            range: range,
            filter: FunnelFilter(
                apps: try call.app,
                vendors: try call.vendor,
                deviceVendors: try call.deviceVendor,
                transports: try call.transport
            ),
            groupings: Set(try call.by),
            format: try call.format,
            merged: try await merged(counted, try call.app, of: call.tenant)
        )
    }

    /// The part of a range of which only days are kept. `latencies`: of latencies, else of counts.
    func merged(
        _ range: AnalyticsRange,
        _ apps: [AppID],
        latencies: Bool = false,
        of tenant: TenantID
    ) async throws(Problem) -> MergedDays? {
        // Younger figures are never merged.
        if clock.now() - range.quarters.start < PostgresCountKeeper.quarterHourLife { return nil }
        let found = try await asked { () async throws(StoreError) in
            try await stores.operators.mergedFigures(of: tenant, apps: apps, latencies: latencies)
        }
        guard let found, range.quarters.start < found.until else { return nil }
        return MergedDays(until: found.until, zones: found.zones.sorted())
    }

    /// The range of a call.
    ///
    /// - Throws: `Problem` when the range is empty or too long.
    func range(_ call: NativeCall<some FigureFields>) async throws(Problem) -> AnalyticsRange {
        let zone = try zone(of: try await apps(call), try call.zone)
        let now = clock.now()
        let from = try call.from ?? FunnelQuestion.midnight(-6, after: now, in: zone)
        let to = try call.to ?? max(FunnelQuestion.midnight(1, after: now, in: zone), from + .seconds(1))
        guard from < to else { throw .invalid("to", "must be after from") }
        // An hour more, for a range of days that begins before a change of the clocks.
        guard to.seconds - from.seconds <= AnalyticsInputs.dayLimit * 86_400 + 3600 else {
            throw .invalid("to", "must be at most \(AnalyticsInputs.dayLimit) days after from")
        }
        return AnalyticsRange(quarters: QuarterRange(from..<to), zone: zone)
    }

    private func zone(of apps: [AppTiming], _ named: TimeZoneName?) throws(Problem) -> TimeZoneName {
        if let named { return named }
        guard apps.count == 1, let zone = apps.first?.timeZone, zone.isKnown else { return .utc }
        return zone
    }

    /// The apps that a call names.
    private func apps(_ call: NativeCall<some FigureFields>) async throws(Problem) -> [AppTiming] {
        let named = try call.app
        guard !named.isEmpty else { return [] }
        let tenant = call.tenant
        let known = try await asked { () async throws(StoreError) in try await queries.timing(of: named, in: tenant) }
        try Self.require(named, in: known)
        return Array(known.values)
    }

    /// Refuses an app that the tenant does not have, and never had.
    private static func require(_ apps: [AppID], in known: [AppID: AppTiming]) throws(Problem) {
        for app in apps where known[app] == nil {
            throw .invalid("app", "\(app) is not an app of the tenant: `GET /v1/apps` lists them")
        }
    }

    /// Refuses the filter of an export by an app that the tenant does not have, and never had.
    func requireApp(_ app: AppID?, in tenant: TenantID) async throws(Problem) {
        guard let app else { return }
        let known = try await asked { () async throws(StoreError) in try await queries.timing(of: [app], in: tenant) }
        try Self.require([app], in: known)
    }
}
