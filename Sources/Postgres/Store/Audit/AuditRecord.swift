package import Model
package import PostgresClient

/// Who did what to whom: for the auditor. Never a secret, never a whole token or vendor key.
package struct AuditRecord: Sendable, Hashable {
    package var action: AuditAction
    /// What it was done to, as kind and name: `app shop`.
    package var subject: String
    package var data: JSON?

    package init(_ action: AuditAction, _ subject: String, data: JSON? = nil) {
        self.action = action
        self.subject = subject
        self.data = data
    }
}

/// What was done. The raw value is what the row says.
package enum AuditAction: String, Sendable, Hashable, CaseIterable {
    /// A tenant, or an API key by hand.
    case create
    /// By the provisioning file: anew, or other than before.
    case write
    /// The file lists it no more; or a capture, by hand.
    case remove
    /// An app that the file lists no more: its history stays.
    case retire
    /// An API key by hand.
    case revoke
    /// A device or a user, everywhere.
    case erase
    /// An import began; in the transaction of its first rows.
    case importBegun = "import"
    /// An import ended, with its counts.
    case imported
    /// By an operator, to a message.
    case pause, resume, requeue, cancel
    /// A capture of a binding's calls, by hand.
    case start, stop

    package init(_ control: MessageControl) {
        self =
            switch control {
            case .cancel: .cancel
            case .pause: .pause
            case .resume: .resume
            case .requeue: .requeue
            }
    }
}

/// Who did it.
package struct AuditActor: Sendable, Hashable, CustomStringConvertible {
    package let description: String

    private init(_ description: String) { self.description = description }

    /// A caller of the native API, by its key's name.
    package static func key(_ name: String) -> AuditActor { AuditActor("key:\(name)") }
    /// Somebody at a shell, by the system's number of the account.
    package static func command(user: UInt32) -> AuditActor { AuditActor("cli:\(user)") }
    /// A provisioning file.
    package static let provisioning = AuditActor("provisioning")
}

/// A line of the audit as it stands.
package struct AuditEntry: Sendable, Hashable {
    /// Grows without gaps; a reader goes on after the last one it saw.
    package var position: Int64
    package var at: Timestamp
    package var actor: String
    package var action: String
    package var subject: String
    package var data: JSON?
}

extension [AuditRecord] {
    /// The statement that writes them: the last one in the transaction of the acts themselves. The one place where audit rows come from, beside the
    /// functions that erase.
    package func written(by actor: AuditActor, in tenant: TenantID) -> Statement {
        AuditSQL.write(
            .id(tenant),
            .string(actor.description),
            .strings(map(\.action.rawValue)),
            .strings(map(\.subject)),
            .strings(map { $0.data.map(DocumentText.of) })
        )
    }
}
