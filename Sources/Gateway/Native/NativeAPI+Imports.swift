import Commands
import HTTPTypes
import Hummingbird
import Model
import Postgres

/// `/v1/imports`.
extension NativeAPI {
    func importDevices(_ call: Call) async throws(Problem) -> Response {
        try call.require("devices")
        let wish = try wish(call)
        let isKnown = try await asked { () async throws(StoreError) in
            try await imports.knows(wish.scope, in: wish.tenant)
        }
        guard isKnown else { throw .notFound("no such app") }
        guard let seat = imports.seat() else { throw .rateLimited(10) }
        if let stated = call.request.headers[.contentLength].flatMap({ Int($0) }), stated > DeviceImports.bodyLimitBytes
        {
            throw .tooLarge(DeviceImports.bodyLimitBytes)
        }
        let outcome = await imports.run(wish, body: call.request.body)
        withExtendedLifetime(seat) {}
        switch outcome {
        case .done(let answer): return .kept(answer)
        case .mismatch: throw .conflict
        case .failed(let failure, let progress):
            return Self.problem(failure).response(
                with: ("import", DeviceImports.json(progress, isDryRun: wish.isDryRun))
            )
        }
    }

    private func wish(_ call: Call) throws(Problem) -> DeviceImports.Wish {
        guard let app = call.query("app"), !app.isEmpty, app.utf8.count <= 64 else {
            throw .invalid("app", "is missing")
        }
        let vendor = Vendor(call.query("vendor") ?? Vendor.native.rawValue)
        guard DeviceLine.vendors.contains(vendor) else {
            let known = DeviceLine.vendors.map(\.rawValue).joined(separator: ", ")
            throw .invalid("vendor", "must be one of \(known)")
        }
        var after = 0
        if let text = call.query("after") {
            guard let line = Int(text), line >= 0 else { throw .invalid("after", "is no number of a line") }
            after = line
        }
        let dryRun = call.query("dryRun") ?? "false"
        guard dryRun == "true" || dryRun == "false" else { throw .invalid("dryRun", "must be true or false") }
        return DeviceImports.Wish(
            tenant: call.tenant,
            scope: AppScope(app: AppID(app), vendor: vendor),
            format: try Self.format(call),
            isDryRun: dryRun == "true",
            after: after,
            actor: call.actor,
            repeatKey: try Self.repeatKey(of: call.request),
            head: Self.head(of: call.request)
        )
    }

    /// By `?format=`, else by the content type.
    private static func format(_ call: Call) throws(Problem) -> DeviceFormat {
        if let name = call.query("format") {
            guard let format = DeviceFormat(rawValue: name) else { throw .invalid("format", "must be csv or ndjson") }
            return format
        }
        switch call.request.headers[.contentType]?.split(separator: ";").first?.lowercased() {
        case "text/csv": return .csv
        case "application/x-ndjson", "application/jsonl", "application/json": return .ndjson
        default: throw .invalid("Content-Type", "must be text/csv or application/x-ndjson; or give ?format=")
        }
    }

    private static func problem(_ failure: DeviceImports.Failure) -> Problem {
        switch failure {
        case .tooLarge: .tooLarge(DeviceImports.bodyLimitBytes)
        case .tooSlow, .broken: .importTooSlow
        case .headings(let what): .invalid("body", what)
        case .store(let error): error.isRetriable ? .unavailable(5) : .invalid("body", "the database refuses every row")
        }
    }
}
