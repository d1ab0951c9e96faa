/// A vendor that a provisioning file can bind to an app, under the vendor's own name: `bindings: { ipns: { appId: hr.mobile } }`.
///
/// The gateway reads `host` and `settings`, checks the settings against `bindingForm`, reports keys that `binding(from:)` did not read, and seals the
/// secrets. Everything else about a binding is decided here, without I/O.
package protocol ProvisionedVendor: VendorAdapter {
    /// The keys and settings of a binding.
    var bindingForm: BindingForm { get }

    /// Reads one binding.
    ///
    /// - Throws: `ProvisioningProblem` with the path of the wrong value.
    func binding(from source: inout BindingSource) throws(ProvisioningProblem) -> VendorBinding

    /// Applies the rules that depend on more than the binding itself. Called for every binding of the vendor once the whole file is read.
    ///
    /// - Throws: `ProvisioningProblem` when the bindings of the file contradict each other.
    func complete(_ binding: inout VendorBinding, in context: BindingContext) throws(ProvisioningProblem)
}

extension ProvisionedVendor {
    package func complete(_ binding: inout VendorBinding, in context: BindingContext) throws(ProvisioningProblem) {}
}

/// The keys and settings of one vendor's bindings. `push-gateway vendors` prints them.
package struct BindingForm: Sendable {
    /// One key of the binding.
    package struct Field: Sendable, Hashable {
        /// As in the file; `restKeys[].value` is a key of each element of a list.
        package var name: String
        package var summary: String
        /// A secret is given as `<name>Env` or `<name>File`.
        package var isSecret: Bool

        package static func plain(_ name: String, _ summary: String) -> Field {
            Field(name: name, summary: summary, isSecret: false)
        }
        package static func secret(_ name: String, _ summary: String) -> Field {
            Field(name: name, summary: summary, isSecret: true)
        }
    }

    /// The name of the product.
    package var product: String
    package var fields: [Field]
    package var settings: VendorSettings

    package init(product: String, fields: [Field], settings: VendorSettings = VendorSettings([])) {
        self.product = product
        self.fields = fields
        self.settings = settings
    }
}

/// The input from which a vendor reads a binding.
package struct BindingSource: Sendable {
    /// The keys of the binding.
    package var fields: StrictFields
    /// The `settings` of the binding, which were checked against the vendor's form.
    package let settings: JSONObject
    /// First path segments that other routes of the gateway use, in lower case.
    package let reservedSegments: Set<String>
    /// Reads the values of secrets.
    package let secrets: any SecretSource

    package init(
        fields: StrictFields,
        settings: JSONObject = JSONObject(),
        reservedSegments: Set<String> = [],
        secrets: any SecretSource
    ) {
        self.fields = fields
        self.settings = settings
        self.reservedSegments = reservedSegments
        self.secrets = secrets
    }

    package var path: String { fields.path }

    /// Reads a secret of the binding itself; nil when the binding does not contain it.
    ///
    /// - Throws: `ProvisioningProblem` when it cannot be read.
    package mutating func optionalSecret(_ name: String) throws(ProvisioningProblem) -> String? {
        try secrets.optionalSecret(&fields, name)
    }
}

/// Reads secrets from where a provisioning file says they are. The gateway implements it with files and the environment.
package protocol SecretSource: Sendable {
    /// The secret from `<name>Env`, `<name>File` or `<name>` of `fields`; nil when there is none.
    ///
    /// - Throws: `ProvisioningProblem` when it cannot be read or is not permitted in the file.
    func optionalSecret(_ fields: inout StrictFields, _ name: String) throws(ProvisioningProblem) -> String?
}

extension SecretSource {
    /// A secret that must be given.
    ///
    /// - Throws: `ProvisioningProblem` when it is absent or cannot be read.
    package func secret(_ fields: inout StrictFields, _ name: String) throws(ProvisioningProblem) -> String {
        guard let secret = try optionalSecret(&fields, name) else {
            throw ProvisioningProblem(path: fields.path, problem: "needs \(name)Env or \(name)File")
        }
        return secret
    }
}

/// A binding as its vendor read it.
package struct VendorBinding: Sendable, Hashable {
    /// A key in calls that leads to the binding.
    package struct Key: Sendable, Hashable {
        /// `BindingKey.kind` of the vendor.
        package var kind: String
        package var value: String

        package init(_ kind: String, _ value: String) {
            self.kind = kind
            self.value = value
        }
    }

    /// A back end that is registered by the file.
    package struct Sender: Sendable, Hashable {
        package var name: String
        /// Nil: the gateway makes one.
        package var id: SenderID?

        package init(name: String, id: SenderID? = nil) {
            self.name = name
            self.id = id
        }
    }

    package var keys: [Key]
    /// The settings that calls and payloads receive as `BindingSettings.values`.
    package var settings: JSONObject
    /// By the name under which calls find them in `BindingSettings.secrets`. Not sealed yet.
    package var secrets: [String: String]
    /// The handling of messages to the vendor's devices outside of their receiving windows. Nil: no default. The app's `receivingWindows` take precedence.
    package var outsideWindow: AppTiming.Hold?
    package var senders: [Sender]

    package init(
        keys: [Key],
        settings: JSONObject = JSONObject(),
        secrets: [String: String] = [:],
        outsideWindow: AppTiming.Hold? = nil,
        senders: [Sender] = []
    ) {
        self.keys = keys
        self.settings = settings
        self.secrets = secrets
        self.outsideWindow = outsideWindow
        self.senders = senders
    }
}

/// The surroundings of a binding in its file.
package struct BindingContext: Sendable {
    /// The path of the binding, for error messages.
    package var path: String
    /// The host of the binding. Nil: any host.
    package var host: String?
    /// The hosts of the same vendor's other bindings in the file.
    package var otherHosts: Set<String>
    /// The topics of the binding's app.
    package var topics: [Platform: String]

    package init(path: String, host: String? = nil, otherHosts: Set<String> = [], topics: [Platform: String] = [:]) {
        self.path = path
        self.host = host
        self.otherHosts = otherHosts
        self.topics = topics
    }
}

extension ProvisionedVendor {
    /// The vendor's own settings, and those that all vendors with senders share.
    package var allSettings: VendorSettings {
        VendorSettings(bindingForm.settings.all + (senders == nil ? [] : SenderSettings.declared))
    }
}
