// Abilities that only some vendors have. An adapter conforms to the protocols that apply; `VendorCatalog` evaluates the conformances once at start-up.

/// A vendor with calls that must read before they change something.
package protocol MultiStepVendor: VendorAdapter {
    /// Returns the commands that follow once `replies` are known. Their replies replace `replies`. Without commands the call is finished. The gateway calls
    /// this a limited number of times.
    ///
    /// - Throws: `AdapterError` when the data that was read does not permit the call; `refuse` then writes the answer.
    func sequel(to replies: [Reply], of request: VendorRequest, settings: BindingSettings) throws(AdapterError)
        -> [Command]
}

/// A vendor whose devices fetch their messages: messages get numbers, and what a device has not received is tracked.
package protocol InboxVendor: VendorAdapter {}

/// A vendor whose back ends send by the names of campaigns, which the native API stores.
package protocol CampaignVendor: VendorAdapter {
    /// Returns the error in a campaign of this vendor, in one sentence for its author. Nil: it can be sent.
    func campaignProblem(in body: JSONObject) -> String?
}

/// A vendor in whose format events can be read: `GET /v1/events?format=…`.
package protocol EventExporting: VendorAdapter {
    /// The name of the format.
    var exportFormat: String { get }

    /// The members of a message's data that `export` reads. No others are loaded for it.
    var exportedData: [String] { get }

    /// Converts an event of any vendor to this format: no value, one value or more.
    func export(_ event: EventRecord, _ facts: EventFacts) -> [JSON]
}

/// A vendor that calls back ends about the deliveries of their messages.
package protocol TrackingCallbacks: VendorAdapter {
    /// Returns the body of a callback about `deliveries`. Nil: nothing to report.
    func trackingCallback(for deliveries: [DeliverySnapshot], settings: BindingSettings) -> VendorRequestBody?
}

/// A vendor whose devices act with tokens that a back end obtains for them.
package protocol DeviceTokenIssuing: VendorAdapter {
    /// Returns the text with which one device authorizes its calls, in the vendor's format.
    ///
    /// - Throws: `AdapterError`: `.invalid` with the name of the field of the grant, `.notFound` if the binding has no key that can sign.
    func deviceToken(for grant: DeviceGrant, settings: BindingSettings) throws(AdapterError) -> String
}

/// The extent of a token for one device.
package struct DeviceGrant: Sendable, Hashable {
    /// The vendor's id of the device.
    package var device: String
    /// The only user that the device may name; nil: any.
    package var user: String?
    /// The host, possibly with a port, to which the device addresses its calls.
    package var host: String
    package var expiresAt: Timestamp

    package init(device: String, user: String?, host: String, expiresAt: Timestamp) {
        self.device = device
        self.user = user
        self.host = host
        self.expiresAt = expiresAt
    }
}

/// A vendor whose devices can be imported from a file.
package protocol DeviceImporting: VendorAdapter {
    /// The vendor's own names of columns. The names of `DeviceColumn` are always accepted.
    var importColumns: [String: DeviceColumn] { get }
}

/// A column in a file of devices.
package enum DeviceColumn: String, Sendable, Hashable, CaseIterable {
    case key, platform, environment, token, user, name, phone, attributes, timeZone, receivingWindow, tags, client
    case appVersion, acceptsPush, consents, groups, badge, registeredAt
}

/// A vendor whose field names a capture must know to mask their values correctly.
package protocol CaptureNaming: VendorAdapter {
    /// By name. Case is ignored, and only letters and digits count.
    var fieldKinds: [String: FieldKind] { get }
}

/// The kind of value in a field of a call, as far as its name shows.
package enum FieldKind: Sendable, Hashable {
    /// A credential, or an identifier of a device. Never shown.
    case secret
    case phone
    /// A text that a device shows to a person. Shown only if a capture keeps texts.
    case text
    /// Personal data.
    case personal
}
