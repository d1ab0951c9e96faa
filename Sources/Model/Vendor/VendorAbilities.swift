// Abilities that only some vendors have. An adapter adopts the protocols that apply; `VendorCatalog` looks for them once, when the gateway starts.

/// A vendor with calls that must read before they change something.
package protocol MultiStepVendor: VendorAdapter {
    /// The commands that follow once `replies` are known. The replies to these commands replace `replies`; no commands: the call is done. The gateway asks a
    /// bounded number of times.
    ///
    /// - Throws: `AdapterError` when what was read does not allow the call; `refuse` then writes the answer.
    func sequel(to replies: [Reply], of request: VendorRequest, settings: BindingSettings) throws(AdapterError)
        -> [Command]
}

/// A vendor whose devices fetch their messages: messages get numbers, and what a device has not received is tracked.
package protocol InboxVendor: VendorAdapter {}

/// A vendor whose back ends send by the names of campaigns, which the native API stores.
package protocol CampaignVendor: VendorAdapter {
    /// What is wrong with a campaign of this vendor, in one sentence for its author; nil: it can be sent.
    func campaignProblem(in body: JSONObject) -> String?
}

/// A vendor in whose format events can be read: `GET /v1/events?format=…`.
package protocol EventExporting: VendorAdapter {
    /// The name of the format.
    var exportFormat: String { get }

    /// The members of a message's data that `export` reads. No others are loaded for it.
    var exportedData: [String] { get }

    /// An event of any vendor in this format: nothing, one value or more.
    func export(_ event: EventRecord, _ facts: EventFacts) -> [JSON]
}

/// A vendor that calls back ends about the deliveries of their messages.
package protocol TrackingCallbacks: VendorAdapter {
    /// The body of a callback about `deliveries`; nil: there is nothing to report.
    func trackingCallback(for deliveries: [DeliverySnapshot], settings: BindingSettings) -> VendorRequestBody?
}

/// A vendor whose devices can be imported from a file.
package protocol DeviceImporting: VendorAdapter {
    /// The vendor's own names of columns. The names of `DeviceColumn` are always accepted.
    var importColumns: [String: DeviceColumn] { get }
}

/// A column of a file of devices, by its own name.
package enum DeviceColumn: String, Sendable, Hashable, CaseIterable {
    case key, platform, environment, token, user, name, phone, attributes, timeZone, receivingWindow, tags
}

/// A vendor with names of fields that a capture must know to mask their values well.
package protocol CaptureNaming: VendorAdapter {
    /// By name; upper and lower case are equal, and only letters and digits count.
    var fieldKinds: [String: FieldKind] { get }
}

/// What a field of a call holds, as far as its name tells.
package enum FieldKind: Sendable, Hashable {
    /// It proves something, or identifies a device: never shown.
    case secret
    case phone
    /// A person reads it on a device: shown only when a capture keeps texts.
    case text
    /// It says who somebody is.
    case personal
}
