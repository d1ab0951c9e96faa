import AnswerShapes
import GatewayHTTP
import HTTPTypes
import Hummingbird
import Model
import NIOCore
import Store

/// The scope that an operation needs.
typealias APIScope = KeyScope.Action

/// The caller of an operation, and the connection it uses.
struct NativeCaller: Sendable {
    var request: Request
    var grant: APIKeyGrant
    /// Whether the console makes the call for an account, whose name is that of the grant.
    var isAccount = false
    /// Whether the console reads again what an open page shows: the audit has the rows of the first reading.
    var isRepetition = false
    /// The client's address, also when it proves nothing.
    var remoteAddress: String?
    /// The connection of the call; nil in tests without one.
    var channel: (any Channel)?
    var reader: NativeBodyReader
    var bodyLimitBytes = NativeAPI.bodyLimitBytes
    /// The number of objects that the call returns, for the audit.
    let found = FoundCount()
    /// The identifier of the call, for the audit.
    let id = CallID.current

    var tenant: TenantID { grant.tenant }
    var actor: AuditActor { isAccount ? .account(grant.name, in: id) : .key(grant.name, in: id) }

    /// - Throws: `Problem` when the key lacks the scope for every app. `admin` includes every other scope.
    func require(_ scope: APIScope) throws(Problem) {
        guard grant.scopes.apps(scope) != .only([]) else { throw .forbidden(scope) }
    }

    /// Whether answers show the caller the content of the app's messages; nil: of those of every app.
    func mayReadContent(of app: AppID?) -> Bool { grant.scopes.mayReadContent(of: app) }

    /// - Throws: `Problem` when the key may not send to such an audience of the app. Nil: to every audience.
    func requireSending(to reach: KeyScope.Reach?, of app: AppID) throws(Problem) {
        guard grant.scopes.maySend(to: reach, of: app) else {
            throw .forbidden(KeyScope(.send, app: app, reach: reach))
        }
    }
}

/// One call of an operation: its caller, and the declared inputs by name (`try call.app`).
@dynamicMemberLookup
struct NativeCall<Input: InputFields>: Sendable {
    let caller: NativeCaller
    let values: InputValues<Input>
    /// The body as received; empty for an operation without a body and for one that reads it as a stream.
    let bytes: [UInt8]

    var tenant: TenantID { caller.tenant }
    var actor: AuditActor { caller.actor }

    /// Reports the number of objects that an audited call returns, and subjects that the call named without saying what they are.
    func found(_ count: Int, subjects: [String] = []) { caller.found.set(count, subjects: subjects) }

    subscript<Value>(dynamicMember member: KeyPath<Input, InputField<Value>>) -> Value {
        get throws(Problem) { try values[dynamicMember: member] }
    }

    /// The members of an open body that no field declares.
    var undeclared: JSONObject {
        let known = Set(values.fields.declared.lazy.filter { $0.place == .body }.map(\.name))
        return JSONObject(values.body.pairs.lazy.filter { !known.contains($0.key) }.map { ($0.key, $0.value) })
    }
}

/// The expected body of an operation's request.
enum NativeBody: Sendable {
    /// The body is ignored.
    case none
    /// A JSON object of the declared body fields. `isOpen`: other members are allowed as well.
    case json(isOpen: Bool = false)
    /// Bytes that are read as a whole.
    case bytes(type: String)
    /// Bytes of one of these types, which the operation reads as they arrive.
    case stream(types: [String])
}

/// One possible answer of an operation.
struct DeclaredAnswer: Sendable {
    struct Header: Sendable {
        let name: String
        let schema: JSONSchema
        let description: String
    }

    let status: Int
    let description: String
    /// Nil: the answer has no body.
    let type: String?
    let schema: JSONSchema
    let example: JSON?
    var headers: [Header] = []
    /// An example of the same answer as CSV (`format=csv`). Nil: the answer has only one form.
    var csvExample: String?

    /// An answer with status 200.
    static func json(_ schema: JSONSchema, _ description: String, example: JSON? = nil) -> DeclaredAnswer {
        json(200, schema, description, example: example)
    }

    /// Without `example`, the example is made of the examples of the schema.
    static func json(
        _ status: Int,
        _ schema: JSONSchema,
        _ description: String,
        example: JSON? = nil
    ) -> DeclaredAnswer {
        DeclaredAnswer(
            status: status,
            description: description,
            type: "application/json",
            schema: schema,
            example: example ?? schema.exampleValue
        )
    }

    /// An answer with status 200, of which CSV is another form.
    static func json(_ schema: JSONSchema, orCSV csvExample: String, _ description: String) -> DeclaredAnswer {
        var answer = json(schema, description)
        answer.csvExample = csvExample
        return answer
    }

    static func empty(_ description: String) -> DeclaredAnswer {
        DeclaredAnswer(status: 204, description: description, type: nil, schema: .anything, example: nil)
    }

    /// One JSON object per line. `schema` describes a line.
    static func lines(_ schema: JSONSchema, _ description: String, headers: [Header]) -> DeclaredAnswer {
        DeclaredAnswer(
            status: 200,
            description: description,
            type: "application/x-ndjson",
            schema: schema,
            example: schema.exampleValue,
            headers: headers
        )
    }
}
