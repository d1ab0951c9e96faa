package import EngineStore
import Foundation
import Model

/// The JSON forms of API keys.
package enum KeyShapes {
    /// A key with a secret that was made for it.
    package struct Created: Sendable {
        package var stored: StoredKey
        package var secret: String

        package init(stored: StoredKey, secret: String) {
            self.stored = stored
            self.secret = secret
        }
    }

    private static let members: [AnswerShape<StoredKey>.Member] = [
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
        .flag("isProvisioned", "Whether it is from a provisioning file, which alone changes it.") { $0.isProvisioned },
    ]

    package static let key = AnswerShape<StoredKey>("APIKey", members)

    package static let created = AnswerShape<Created>(
        "CreatedAPIKey",
        AnswerShape.members(members) { $0.stored } + [
            .text("key", "The secret. It is not shown again.", example: "pgw_000102030405060708090a0b0c0d0e0f") {
                $0.secret
            }
        ]
    )
}
