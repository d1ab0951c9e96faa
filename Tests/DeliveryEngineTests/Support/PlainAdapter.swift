import FoundationEssentials
import Model

/// An adapter whose payload is the message's body; a body that is too long or empty is refused.
struct PlainAdapter: VendorAdapter {
    var vendor: Vendor = .rationalOwl
    var limitBytes = 64
    var isPersonal = true
    // A message's data may name when its payload ends: `end`, in seconds since 1970.
    /// The payload ends with the target's key.
    var namesTarget = false

    var routes: [VendorRoute] { [] }

    func locate(_ request: VendorRequest) throws(AdapterError) -> (BindingKey, Proof) { throw AdapterError(.notFound) }

    func decode(_ request: VendorRequest, settings: BindingSettings) throws(AdapterError) -> [Command] {
        throw AdapterError(.notFound)
    }

    func encode(_ replies: [Reply], for request: VendorRequest, settings: BindingSettings) -> VendorResponse {
        VendorResponse(status: 500)
    }

    func refuse(_ error: AdapterError, for request: VendorRequest, settings: BindingSettings) -> VendorResponse {
        VendorResponse(status: 400)
    }

    func payload(
        for notification: Notification,
        to target: TargetFacts,
        settings: BindingSettings
    ) throws(AdapterError) -> PushPayload {
        let name = namesTarget ? " \(target.key)" : ""
        let bytes = Array((notification.content.body + name).utf8)
        guard bytes.count <= limitBytes else { throw AdapterError(.tooLarge) }
        guard !bytes.isEmpty else { throw AdapterError(.missing, field: "body") }
        guard notification.content.body != "nobody" else { throw AdapterError(.withheld) }
        let end = notification.content.data["end"]?.int.map { Timestamp(seconds: Int64($0)) }
        return PushPayload(bytes: bytes, collapseID: notification.collapseID, expiresAt: end)
    }
}

extension UUID {
    /// A UUID that is easy to read in a failure: `number` in its last bytes.
    static func numbered(_ number: Int) -> UUID {
        UUID(bytes: [UInt8](repeating: 0, count: 12) + [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: number >> $0) })
            ?? UUID()
    }
}
