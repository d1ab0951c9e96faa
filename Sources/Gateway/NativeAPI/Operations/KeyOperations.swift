import AnswerShapes
import EngineStore
import GatewayHTTP
import Hummingbird
import Model
import Secrets
import Store

/// `/v1/keys`: the tenant's API keys. Only their hashes are stored, so that a secret is in the answer that creates it, and nowhere else.
enum KeyOperations {
    static let all = [list, create, show, rotate, delete]

    struct ListInput: InputFields {
        let after = CommonInputs.afterName
        let limit = CommonInputs.limit
    }

    static let page = AnswerPage("keys", KeyShapes.key, next: .text(example: "crm"), title: "APIKey")

    static let list = NativeOperation(
        "listKeys",
        .get,
        "/v1/keys",
        scope: .admin,
        "List the tenant's API keys by name, without their secrets.",
        input: ListInput(),
        answers: [.json(page.schema, "A page of keys.")],
        NativeAPI.listKeys
    )

    private static let nameKind = InputKind<String>.text(64, atLeast: 1).example("crm").map(
        "may contain only letters, digits, '.', '_' and '-', at most 64"
    ) { StrictFields.isName($0) ? $0 : nil }

    static let name = PathField.required("name", .text(64, atLeast: 1).example("crm"), "The key's name.")

    struct CreateInput: InputFields {
        let name = BodyField.required("name", KeyOperations.nameKind, "The key's name, unique within the tenant.")
        let scopes = BodyField.required(
            "scopes",
            .list(
                InputKind<String>.text(256, atLeast: 1).example("send:direct:app/shop")
                    .map("must be one of \(KeyScope.forms)") { KeyScope($0) },
                limit: KeyScope.limit
            ),
            "The permissions of the key: at least one."
        )
        let networks = BodyField.optional(
            "networks",
            .list(
                InputKind<String>.text(64, atLeast: 1).example("10.20.0.0/16")
                    .map("must be a network like 10.0.0.0/8") { AddressRange($0) },
                limit: APIKeys.networkLimit
            ),
            default: [],
            "Where it may be used; empty: everywhere."
        )
        let expiresAt = BodyField.optional("expiresAt", .time, "When it ends; null: it does not.")
        let recipientsPerDay = BodyField.optional(
            "recipientsPerDay",
            .integer(1...Int(Int32.max)),
            "Recipients to whom it may send per UTC day; null: any number."
        )
    }

    static let create = NativeOperation(
        "createKey",
        .post,
        "/v1/keys",
        scope: .admin,
        "Create an API key with at most the rights of the calling key. The answer contains its secret.",
        input: CreateInput(),
        example: ["name": "crm", "scopes": ["read", "devices"], "networks": ["10.20.0.0/16"]],
        answers: [.json(201, KeyShapes.created.schema, "The key, with its secret.")],
        NativeAPI.createKey
    ).audited(.act)

    struct NameInput: InputFields {
        let name = KeyOperations.name
    }

    static let show = NativeOperation(
        "showKey",
        .get,
        "/v1/keys/{name}",
        scope: .admin,
        "Show an API key, without its secrets.",
        input: NameInput(),
        answers: [.json(KeyShapes.key.schema, "The key.")],
        problems: [.notFound],
        NativeAPI.showKey
    )

    /// A year for callers to take the new secret, as for `key rotate`.
    private static let overlapLimit = 365 * 86_400

    struct RotateInput: InputFields {
        let name = KeyOperations.name
        let overlap = BodyField.optional(
            "overlapSeconds",
            .integer(0...KeyOperations.overlapLimit),
            default: 86_400,
            as: 86_400,
            "How long the present secret stays valid next to the new one."
        )
    }

    static let rotate = NativeOperation(
        "rotateKey",
        .post,
        "/v1/keys/{name}/rotate",
        scope: .admin,
        "Give an API key a new secret. The present one stays valid for a while; an earlier one ends now.",
        input: RotateInput(),
        example: ["overlapSeconds": 86_400],
        answers: [.json(KeyShapes.created.schema, "The key, with its new secret.")],
        problems: [.notFound, .provisioned],
        NativeAPI.rotateKey
    ).audited(.act)

    static let delete = NativeOperation(
        "deleteKey",
        .delete,
        "/v1/keys/{name}",
        scope: .admin,
        "Delete an API key: its next call is refused.",
        input: NameInput(),
        answers: [.empty("The key is deleted.")],
        problems: [.notFound, .provisioned],
        NativeAPI.deleteKey
    ).audited(.act)

    static func json(_ stored: StoredKey) -> JSON { KeyShapes.key.json(stored) }
}

extension NativeAPI {
    func listKeys(_ call: NativeCall<KeyOperations.ListInput>) async throws(Problem) -> Response {
        let after = try call.after
        let limit = try call.limit
        let found = try await asked { () async throws(StoreError) in
            try await stores.keys.page(of: call.tenant, after: after, limit: limit)
        }
        return .json(KeyOperations.page.json(found, limit: limit) { .string($0.name) })
    }

    private func key(_ name: String, in tenant: TenantID) async throws(Problem) -> StoredKey {
        let key = try await asked { () async throws(StoreError) in try await stores.keys.key(name, of: tenant) }
        guard let key else { throw .notFound("no such key") }
        return key
    }

    /// The key, which no file created.
    private func ownKey(_ name: String, in tenant: TenantID) async throws(Problem) -> StoredKey {
        let key = try await key(name, in: tenant)
        guard !key.isProvisioned else { throw .provisioned("the key '\(key.name)'") }
        return key
    }

    func createKey(_ call: NativeCall<KeyOperations.CreateInput>) async throws(Problem) -> Response {
        let name = try call.name
        let scopes = try call.scopes.map(\.description)
        guard !scopes.isEmpty else { throw .invalid("scopes", "must not be empty") }
        let rights = KeyRights(
            scopes: KeyScopes(scopes),
            networks: try call.networks,
            expiresAt: try call.expiresAt,
            recipientsPerDay: try call.recipientsPerDay
        )
        if let excess = rights.excess(over: call.caller.grant.rights) { throw .invalid(excess.field, excess.fault) }
        if let end = rights.expiresAt, end <= clock.now() { throw .invalid("expiresAt", "must be in the future") }
        let secret = APIKeys.make(identifiers)
        let key = ProvisionedKey(
            name: name,
            hash: APIKeys.hash(secret),
            scopes: scopes,
            expiresAt: rights.expiresAt,
            networks: rights.networks.map(\.description),
            recipientsPerDay: rights.recipientsPerDay.map { Int32(clamping: $0) }
        )
        let (isCreated, stored) = try await asked { () async throws(StoreError) in
            let limit = ObjectLimits.keys
            let id = try await stores.keys.create(key, in: call.tenant, limit: limit, by: call.actor)
            return (id != nil, try await stores.keys.key(name, of: call.tenant))
        }
        guard isCreated else {
            if stored != nil { throw .invalid("name", "is the name of another key; delete that one, or rotate it") }
            throw .invalid("keys", "at most \(ObjectLimits.keys) per tenant; delete one first")
        }
        guard let stored else { throw .notFound("the key was deleted by another call") }
        return .json(KeyShapes.created.json(.init(stored: stored, secret: secret)), status: .created)
    }

    func showKey(_ call: NativeCall<KeyOperations.NameInput>) async throws(Problem) -> Response {
        .json(KeyOperations.json(try await key(try call.name, in: call.tenant)))
    }

    func rotateKey(_ call: NativeCall<KeyOperations.RotateInput>) async throws(Problem) -> Response {
        let name = try call.name
        let overlap = Duration.seconds(try call.overlap)
        let known = try await ownKey(name, in: call.tenant)
        if let excess = known.rights.excess(over: call.caller.grant.rights) {
            throw .invalid("name", "the key has more rights than the calling key: \(excess.field): \(excess.fault)")
        }
        let secret = APIKeys.make(identifiers)
        // By its id: a key of the same name that was created meanwhile may have other rights.
        let stored = try await asked { () async throws(StoreError) -> StoredKey? in
            let didRotate = try await stores.keys.rotate(
                known.id.lowercased,
                to: APIKeys.hash(secret),
                overlap: overlap,
                in: call.tenant,
                by: call.actor
            )
            return didRotate ? try await stores.keys.key(name, of: call.tenant) : nil
        }
        guard let stored else { throw .notFound("no such key") }
        return .json(KeyShapes.created.json(.init(stored: stored, secret: secret)))
    }

    func deleteKey(_ call: NativeCall<KeyOperations.NameInput>) async throws(Problem) -> Response {
        let known = try await ownKey(try call.name, in: call.tenant)
        let didRemove = try await asked { () async throws(StoreError) in
            try await stores.keys.remove(known.id, in: call.tenant, by: call.actor)
        }
        guard didRemove else { throw .notFound("no such key") }
        return Response(status: .noContent)
    }
}
