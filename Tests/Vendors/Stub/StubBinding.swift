package import Model

/// A binding of the vendor: `stub: { app: pigeon, sendKeyEnv: STUB_KEY }`.
struct StubBinding {
    static let appKind = "app"
    static let sendKeyName = "sendKey"
    static let keyHeader = "X-Stub-Key"

    static let declared = VendorSettings([
        VendorSetting("push.ttlHours", default: "24", "Hours for which a push may wait for its device, 1 to 72.") {
            hours($0) != nil
        }
    ])

    private let binding: BindingSettings

    init(_ binding: BindingSettings) { self.binding = binding }

    var timeToLive: Duration { .seconds((binding["push.ttlHours"].flatMap(Self.hours) ?? 24) * 3600) }

    private static func hours(_ value: JSON) -> Int64? { value.lenientInt.flatMap { (1...72).contains($0) ? $0 : nil } }
}

extension StubAdapter: ProvisionedVendor {
    package var bindingForm: BindingForm {
        BindingForm(
            product: "Stub",
            fields: [
                .plain("app", "The app's name, which every call sends as app."),
                .secret(
                    "sendKey",
                    "Back ends show it in \(StubBinding.keyHeader) to send. At least 16 characters. Optional."
                ),
            ],
            settings: StubBinding.declared
        )
    }

    package func binding(from source: inout BindingSource) throws(ProvisioningProblem) -> VendorBinding {
        let app = try source.fields.name("app")
        let key = try source.optionalSecret(StubBinding.sendKeyName)
        guard key.map({ $0.utf8.count >= StubLimits.sendKeyBytes }) ?? true else {
            throw ProvisioningProblem(
                path: "\(source.path).\(StubBinding.sendKeyName)",
                problem: "must have at least \(StubLimits.sendKeyBytes) characters"
            )
        }
        return VendorBinding(
            keys: [.init(StubBinding.appKind, app)],
            settings: source.settings,
            secrets: key.map { [StubBinding.sendKeyName: $0] } ?? [:]
        )
    }
}
