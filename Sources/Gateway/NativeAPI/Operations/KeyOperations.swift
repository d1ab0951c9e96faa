import EngineStore
import GatewayHTTP
import Hummingbird
import Model
import Store

/// `/v1/keys`: the tenant's API keys, without their secrets. They are made and changed by the program's commands and by provisioning files.
enum KeyOperations {
    static let all = [list]

    private static let key = AnswerShape<StoredKey>(
        "APIKey",
        [
            .id("id", "The key's id.") { $0.id.lowercased },
            .text("name", "The key's name.", example: "crm") { $0.name },
            .texts("scopes", "The permissions of the key.", example: "send:direct:app/shop") { $0.scopes },
            .texts("networks", "Where it may be used; empty: everywhere.", example: "10.20.0.0/16") { $0.networks },
            .optionalInt("recipientsPerDay", "Recipients to whom it may send per UTC day; null: any number.") {
                $0.recipientsPerDay
            },
            .optionalInt("recipientsToday", "Recipients of this UTC day; null: they are not counted without a limit.") {
                $0.recipientsToday
            },
            .time("createdAt", "When it was created.") { $0.createdAt },
            .optionalTime("expiresAt", "When it ends; null: it does not.") { $0.expiresAt },
            .optionalTime("lastUsedAt", "When it was last used, within a minute; null: never.") { $0.lastUsedAt },
            .flag("hasOtherSecret", "Whether a second secret is valid, for a rotation.") { $0.hasPrevious },
            .optionalTime("otherSecretUntil", "When the second secret ends; null: with the key.") { $0.previousUntil },
            .flag("isProvisioned", "Whether it is from a provisioning file.") { $0.isProvisioned },
        ]
    )

    struct ListInput: InputFields {
        let after = CommonInputs.afterName
        let limit = CommonInputs.limit
    }

    static let page = AnswerPage("keys", key, next: .text(example: "crm"), title: "APIKey")

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
}
