import AnswerShapes
import Foundation
import GatewayHTTP
import HTTPTypes
import Hummingbird
import Model

/// One operation of the native API. This declaration alone defines routing, input checks and documentation.
///
/// docs/native-api.md describes how to add an operation.
struct NativeOperation: Sendable {
    /// The operation's id, for example `registerDevice`. It is also the name of the method that executes it.
    let id: String
    let method: HTTPRequest.Method
    /// The path, with `{name}` for each path field.
    let path: String
    /// Nil: the call needs no API key, because it proves itself otherwise. Its body is small.
    let scope: APIScope?
    /// Whether a key may call it that is limited to one kind of audience; the operation itself then checks the audience.
    let allowsLimitedReach: Bool
    /// The trace of its calls in the audit.
    private(set) var audited = AuditedCall.no
    /// Whether its calls are refused while the copies of the audit are behind: audited acts and reads, except those of senders.
    var isAdministrative: Bool { audited != .no && scope != .send }
    /// Whether long answers are compressed for callers that accept it. Answers about figures and rows are long, and contain no secret.
    var isCompressible: Bool {
        method == .get && (path.hasPrefix("/v1/analytics/") || path.hasPrefix("/v1/exports/"))
    }
    let summary: String
    let inputs: [any DeclaredInput]
    let body: NativeBody
    /// The schema of a JSON body; nil without a body and for other types of bodies.
    let bodySchema: JSONSchema?
    /// The example of the body.
    let example: JSON?
    let answers: [DeclaredAnswer]
    /// Every problem that the operation may answer.
    private(set) var problems: [ProblemCode]
    /// Reads and checks the inputs, and executes the operation.
    private let perform: @Sendable (NativeAPI, NativeCaller, Parameters, AuditedCall) async throws(Problem) -> Response

    /// Without `body`, the body is JSON if there are body fields. Without `example`, the example of a JSON body is made of the examples of its fields.
    /// `problems` lists those that do not follow from the scope, the inputs and the body.
    init<Input: InputFields>(
        _ id: String,
        _ method: HTTPRequest.Method,
        _ path: String,
        scope: APIScope?,
        allowsLimitedReach: Bool = false,
        _ summary: String,
        input: Input,
        body: NativeBody? = nil,
        example: JSON? = nil,
        answers: [DeclaredAnswer],
        problems: [ProblemCode] = [],
        _ handler: @escaping @Sendable (NativeAPI) -> (NativeCall<Input>) async throws(Problem) -> Response
    ) {
        let inputs = input.declared
        let hasBodyFields = inputs.contains { $0.place == .body }
        let body = body ?? (hasBodyFields ? .json() : .none)
        self.id = id
        self.method = method
        self.path = path
        self.scope = scope
        self.allowsLimitedReach = allowsLimitedReach
        self.summary = summary
        self.inputs = inputs
        self.body = body
        self.answers = answers
        if case .json(let isOpen) = body {
            let schema = input.bodySchema(isOpen: isOpen)
            let name = id.prefix(1).uppercased() + id.dropFirst() + "Request"
            bodySchema = schema.named(name)
            self.example = example ?? schema.exampleValue
        } else {
            bodySchema = nil
            self.example = nil
        }
        self.problems = Self.problems(inputs, body, problems).filter {
            scope != nil || $0 != .unauthorized && $0 != .forbidden
        }
        let reader = NativeInputReader(input, body)
        perform = { (api, caller, parameters, audited) async throws(Problem) in
            let call = try await reader.call(caller, parameters)
            if let scope {
                try await api.admit(caller, to: scope, anyReach: allowsLimitedReach, KeyTarget(call.values))
            }
            guard audited.isRead, !call.caller.isRepetition else { return try await handler(api)(call) }
            return try await api.audited(audited, id, call) { () async throws(Problem) in try await handler(api)(call) }
        }
    }

    /// The same operation, whose calls are audited.
    func audited(_ rule: AuditedCall) -> NativeOperation {
        var operation = self
        operation.audited = rule
        if operation.isAdministrative {
            operation.problems = ProblemCode.allCases.filter { problems.contains($0) || $0 == .auditBehind }
        }
        return operation
    }

    /// Reads and checks the inputs, and executes the operation.
    ///
    /// - Throws: `Problem`.
    func perform(
        _ api: NativeAPI,
        _ caller: NativeCaller,
        _ parameters: Parameters
    ) async throws(Problem) -> Response {
        try await perform(api, caller, parameters, audited)
    }

    /// The declared problems and those that follow from the other properties, in the order of their codes.
    private static func problems(
        _ inputs: [any DeclaredInput],
        _ body: NativeBody,
        _ declared: [ProblemCode]
    ) -> [ProblemCode] {
        // 422 is always possible: for an undeclared query parameter. 429: after too many wrong keys.
        var all: Set<ProblemCode> = [.unauthorized, .forbidden, .invalid, .rateLimited, .unavailable]
        all.formUnion(declared)
        switch body {
        case .none: break
        case .json: all.formUnion([.badRequest, .tooLarge, .tooSlow])
        case .bytes, .stream: all.formUnion([.tooLarge, .tooSlow])
        }
        if inputs.contains(where: { $0.place == .header && $0.name == CommonInputs.repeatKeyName }) {
            all.insert(.conflict)
        }
        return ProblemCode.allCases.filter { all.contains($0) }
    }
}

/// Reads the inputs of one operation from a request.
struct NativeInputReader<Input: InputFields>: Sendable {
    private let input: Input
    private let body: NativeBody
    private let pathNames: [String]
    private let queryNames: Set<String>
    /// The names of parameters that may be repeated.
    private let listNames: Set<String>
    private let bodyNames: Set<String>

    init(_ input: Input, _ body: NativeBody) {
        self.input = input
        self.body = body
        let declared = input.declared
        func names(_ place: InputPlace) -> [String] { declared.filter { $0.place == place }.map(\.name) }
        pathNames = names(.path)
        queryNames = Set(names(.query))
        listNames = Set(declared.filter { $0.place == .query && $0.schema.json["type"] == "array" }.map(\.name))
        bodyNames = Set(names(.body))
    }

    /// - Throws: `Problem` for an undeclared parameter or field, and for an unreadable body.
    func call(_ caller: NativeCaller, _ parameters: Parameters) async throws(Problem) -> NativeCall<Input> {
        let query = try query(caller.request)
        var bytes: [UInt8] = []
        var object = JSONObject()
        switch body {
        case .none, .stream: break
        case .bytes: bytes = try await NativeAPI.body(of: caller)
        case .json(let isOpen):
            bytes = try await NativeAPI.body(of: caller)
            object = try await parsed(bytes, of: caller)
            if !isOpen, let unknown = object.keys.first(where: { !bodyNames.contains($0) }) {
                throw .invalid(unknown, "is not a known field")
            }
        }
        var values = InputValues(input, body: object)
        values.query = query
        values.headers = caller.request.headers
        for name in pathNames { values.path[name] = parameters.get(name).map { $0.removingPercentEncoding ?? $0 } }
        return NativeCall(caller: caller, values: values, bytes: bytes)
    }

    private func parsed(_ bytes: [UInt8], of caller: NativeCaller) async throws(Problem) -> JSONObject {
        guard let object = try await caller.reader.json(bytes).object else {
            throw .badRequest("the body must be a JSON object")
        }
        return object
    }

    private func query(_ request: Request) throws(Problem) -> [String: [String]] {
        var query: [String: [String]] = [:]
        for (name, value) in request.uri.queryParameters {
            let name = String(name)
            guard queryNames.contains(name) else { throw .unknownParameter(name, known: queryNames.sorted()) }
            guard query[name] == nil || listNames.contains(name) else {
                throw .invalid(name, "is given more than once")
            }
            query[name, default: []].append(value.removingPercentEncoding ?? String(value))
        }
        return query
    }
}
