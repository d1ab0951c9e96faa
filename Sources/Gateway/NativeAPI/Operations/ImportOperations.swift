import AnswerShapes
import Commands
import GatewayHTTP
import HTTPTypes
import Hummingbird
import Imports
import Model

/// `/v1/apps/{app}/imports`.
enum ImportOperations {
    static let all = [importDevices]

    struct Input: InputFields {
        let once = CommonInputs.repeatKey
        let app = CommonInputs.app
        let vendor = QueryField.optional(
            "vendor",
            .vendor(among: DeviceLine.vendors),
            default: .native,
            as: .string(Vendor.native.rawValue),
            "The vendor of the devices."
        )
        let format = QueryField.optional(
            "format",
            .word(DeviceFormat.self),
            "The body's format; null: given by the content type."
        )
        let contentType = HeaderField.optional("Content-Type", .text(256), "The format, if `format` is absent.")
        let dryRun = QueryField.optional(
            "dryRun",
            .flag,
            default: false,
            as: false,
            "Count the changes without making them."
        )
        let asOf = QueryField.optional(
            "asOf",
            .time,
            "When the body was made: what changed here later stays. Absent: the body is newer than everything."
        )
        let after = QueryField.optional(
            "after",
            .integer(0...Int.max),
            default: 0,
            as: 0,
            "The last line that an earlier call has committed."
        )
    }

    private static let reject = AnswerShape<(line: Int, reason: String)>(
        "RejectedLine",
        [.int("line", "The line, from 1.") { $0.line }, .text("reason", "Why it was rejected.") { $0.reason }]
    )

    /// The answer of an import, and the member `import` of a problem.
    static let progress = AnswerShape<DeviceImports.Report>(
        "ImportReport",
        [
            .flag("dryRun", "Whether nothing was changed.") { $0.isDryRun },
            .int("line", "The last processed line, which is `after` of a call that resumes.") { $0.progress.line },
            .int("created", "New devices.") { $0.progress.state.checkpoint.created },
            .int("updated", "Changed devices.") { $0.progress.state.checkpoint.updated },
            .int("unchanged", "Devices that the import left unchanged.") { $0.progress.state.checkpoint.unchanged },
            .int("older", "Devices of which something that is newer here has stayed.") {
                $0.progress.state.checkpoint.older
            },
            .int("rejected", "Rejected lines.") { $0.progress.state.checkpoint.rejected },
            .list("rejects", reject, "The first \(DeviceImports.listedRejects) rejected lines.") {
                $0.progress.rejects
            },
        ]
    )

    static let importDevices = NativeOperation(
        "importDevices",
        .post,
        "/v1/apps/{app}/imports",
        scope: .devices,
        "Register the devices of an NDJSON or CSV body. Batches are committed as the body arrives.",
        input: Input(),
        body: .stream(types: ["application/x-ndjson", "text/csv"]),
        answers: [.json(progress.schema, "The counts, and the lines that were rejected.")],
        problems: [.notFound, .rateLimited, .quotaUsedUp],
        NativeAPI.importDevices
    ).audited(.act)
}

extension NativeAPI {
    func importDevices(_ call: NativeCall<ImportOperations.Input>) async throws(Problem) -> Response {
        let order = try importRequest(call)
        try await known(order.scope.app, call.caller)
        guard let permit = imports.acquire() else {
            callers.limiter.refused(FixedLimit.imports)
            throw .rateLimited(10)
        }
        let request = call.caller.request
        if let stated = request.headers[.contentLength].flatMap({ Int($0) }), stated > DeviceImports.bodyLimitBytes {
            callers.limiter.refused(FixedLimit.bodyBytes)
            throw .tooLarge(DeviceImports.bodyLimitBytes)
        }
        let outcome = await imports.run(order, body: request.body) {
            .json(ImportOperations.progress.json($0))
        }
        withExtendedLifetime(permit) {}
        switch outcome {
        case .done(let answer): return .kept(answer)
        case .mismatch: throw .conflict
        case .failed(let failure, let progress):
            let report = DeviceImports.Report(progress: progress, isDryRun: order.isDryRun)
            if case .store(let error) = failure, case .exhausted(let quota) = error.code {
                callers.limiter.refused(quota, of: order.scope.app, in: call.tenant)
            }
            return problem(failure).response(with: ("import", ImportOperations.progress.json(report)))
        }
    }

    private func importRequest(_ call: NativeCall<ImportOperations.Input>) throws(Problem) -> DeviceImports.Request {
        DeviceImports.Request(
            tenant: call.tenant,
            scope: AppScope(app: try call.app, vendor: try call.vendor),
            format: try Self.format(call),
            isDryRun: try call.dryRun,
            asOf: try call.asOf,
            after: try call.after,
            actor: call.actor,
            repeatKey: try call.once,
            head: Self.head(of: call.caller.request)
        )
    }

    /// The format by `?format=`, or otherwise by the content type.
    private static func format(_ call: NativeCall<ImportOperations.Input>) throws(Problem) -> DeviceFormat {
        if let format = try call.format { return format }
        switch try call.contentType?.split(separator: ";").first?.lowercased() {
        case "text/csv": return .csv
        case "application/x-ndjson", "application/jsonl", "application/json": return .ndjson
        default: throw .invalid("Content-Type", "must be text/csv or application/x-ndjson; or give ?format=")
        }
    }

    private func problem(_ failure: DeviceImports.Failure) -> Problem {
        switch failure {
        case .tooLarge: .tooLarge(DeviceImports.bodyLimitBytes)
        case .tooSlow, .broken: .importTooSlow
        case .headings(let what): .invalid("body", what)
        case .store(let error):
            if case .exhausted(let quota) = error.code {
                .usedUp(quota, Int(quota.wait(at: clock.now()).components.seconds))
            } else {
                error.isRetriable ? .unavailable(5) : .invalid("body", "the database refuses every row")
            }
        }
    }
}
