package import Model
package import PostgresClient

/// One administrative act for the audit. It never contains a secret, a whole token or a whole vendor key.
package struct AuditRecord: Sendable, Hashable {
    package var action: AuditAction
    /// The kind and name of the changed object: `app shop`.
    package var subject: String
    package var data: JSON?

    package init(_ action: AuditAction, _ subject: String, data: JSON? = nil) {
        self.action = action
        self.subject = subject
        self.data = data
    }
}

/// The kind of act. The raw value is stored in the row.
package enum AuditAction: String, Sendable, Hashable, CaseIterable {
    /// A tenant was created, or an API key by hand.
    case create
    /// A provisioning file created or changed the object.
    case write
    /// The provisioning file does not list the object any longer, or a capture was removed by hand.
    case remove
    /// The provisioning file does not list the app any longer. Its history stays.
    case retire
    /// An API key was revoked by hand.
    case revoke
    /// An API key or a webhook got a new secret.
    case rotate
    /// A device or a user was erased in all apps.
    case erase
    /// An import began. Written in the transaction of its first rows.
    case importBegun = "import"
    /// An import ended. Contains its counts.
    case imported
    /// An export was compared with the stored devices. Contains its counts.
    case compare
    /// Devices with their whole tokens were exported.
    case export
    /// An operator changed the delivery of a message.
    case pause, resume, requeue, cancel
    /// A message of somebody else was approved.
    case approve
    /// A capture of a binding's calls was started or stopped by hand.
    case start, stop
    /// The whole database was copied to a file, or comes from one.
    case backup, restore
    /// A webhook gets earlier events again.
    case replay
    /// The vendor of an upstream was made to report to this gateway, or not to report any longer. Written before the vendor is called.
    case attach, detach
    /// Counts that differed from the deliveries were corrected.
    case recount
    /// Content, or facts about people, were read with an API key.
    case read
    /// Proofs of callers were refused. Sampled: contains the number of calls.
    case refuse
    /// A person was invited to the console, or got a link for another password.
    case invite
    /// An account was prevented from signing in, or allowed again, or its failures were forgotten.
    case disable, enable, unlock
    /// An account signed in to the console.
    case signIn = "signin"
    /// Masked data of people were shown to an account that asked for them.
    case reveal

    package init(_ control: MessageControl) {
        self =
            switch control {
            case .cancel: .cancel
            case .pause: .pause
            case .resume: .resume
            case .requeue: .requeue
            case .approve: .approve
            }
    }
}

/// The author of an act.
package struct AuditActor: Sendable, Hashable, CustomStringConvertible {
    package let description: String
    /// The call in which the actor acts, for the data of the rows. Nil: not a call.
    package private(set) var request: CallID?

    private init(_ description: String, in request: CallID? = nil) {
        self.description = description
        self.request = request
    }

    /// A caller of the native API, identified by the name of its key.
    package static func key(_ name: String, in request: CallID? = nil) -> AuditActor {
        AuditActor("key:\(name)", in: request)
    }
    /// A person in the web console, identified by the name of the account.
    package static func account(_ name: String, in request: CallID? = nil) -> AuditActor {
        AuditActor("account:\(name)", in: request)
    }
    /// A person at a shell, identified by the number of the system account, and by the name that the person gave.
    package static func command(user: UInt32, name: String? = nil) -> AuditActor {
        AuditActor("cli:\(user)" + suffix(name))
    }
    /// A running gateway, of its own accord.
    package static let gateway = AuditActor("gateway")
    /// A provisioning file.
    package static let provisioning = AuditActor("provisioning")
    /// A provisioning file that the named person applied.
    package static func provisioning(by name: String?) -> AuditActor { AuditActor("provisioning" + suffix(name)) }

    /// The author without the call.
    package var unnamed: AuditActor { AuditActor(description) }

    private static func suffix(_ name: String?) -> String { name.map { " \($0)" } ?? "" }
}

extension AuditRecord {
    /// The subject of records about the devices of an app in a dialect.
    package static func devices(of scope: AppScope) -> String { "devices of app \(scope.app), \(scope.vendor)" }

    /// The record with the call that it belongs to. A record that names one keeps it.
    package func of(_ request: CallID?) -> AuditRecord {
        guard let request, var object = data == nil ? JSONObject() : data?.object, object["request"] == nil else {
            return self
        }
        object["request"] = .string(request.description)
        var record = self
        record.data = .object(object)
        return record
    }
}

/// A stored row of the audit.
package struct AuditEntry: Sendable, Hashable {
    /// Grows without gaps. A reader continues after the last position that it saw.
    package var position: Int64
    package var at: Timestamp
    package var actor: String
    package var action: String
    package var subject: String
    package var data: JSON?
}

extension [AuditRecord] {
    /// The statement that writes the records. It is the last one in the transaction of the acts. All audit rows are written by it, except those of the
    /// functions that erase.
    package func written(by actor: AuditActor, in tenant: TenantID) -> Statement {
        AuditSQL.write(
            .id(tenant),
            .string(actor.description),
            .strings(map(\.action.rawValue)),
            .strings(map(\.subject)),
            .strings(map { $0.of(actor.request).data.map(DocumentText.of) })
        )
    }
}
