/// What an export of events tells beside the events themselves: of the identities, devices and messages that a page names.
package struct EventFacts: Sendable, Hashable {
    /// Who it is, as of now: an event does not say what a row said when it was written.
    package struct Identity: Sendable, Hashable {
        package var key: VendorDeviceKey?
        package var user: UserID?
        /// Nil: it has no device.
        package var platform: Platform?
        package var environment: PushEnvironment?
        package var timeZone: TimeZoneName?

        package init(
            key: VendorDeviceKey? = nil,
            user: UserID? = nil,
            platform: Platform? = nil,
            environment: PushEnvironment? = nil,
            timeZone: TimeZoneName? = nil
        ) {
            self.key = key
            self.user = user
            self.platform = platform
            self.environment = environment
            self.timeZone = timeZone
        }
    }

    /// In whose dialect a message was sent, and what that dialect keeps of it: the members that the export asked for.
    package struct Message: Sendable, Hashable {
        package var origin: Vendor
        package var data: JSONObject

        package init(origin: Vendor, data: JSONObject) {
            self.origin = origin
            self.data = data
        }
    }

    package var identities: [IdentityID: Identity]
    /// The devices that events name; of their identities one that is active, where there is one.
    package var devices: [DeviceID: Identity]
    package var messages: [MessageID: Message]

    package init(
        identities: [IdentityID: Identity] = [:],
        devices: [DeviceID: Identity] = [:],
        messages: [MessageID: Message] = [:]
    ) {
        self.identities = identities
        self.devices = devices
        self.messages = messages
    }

    /// Whom an event is about.
    package func identity(of event: EventRecord) -> Identity? {
        event.subject.identity.flatMap { identities[$0] } ?? event.subject.device.flatMap { devices[$0] }
    }

    /// On what: the device that an event names, else the one that its identity has.
    package func device(of event: EventRecord) -> Identity? {
        event.subject.device.flatMap { devices[$0] } ?? event.subject.identity.flatMap { identities[$0] }
    }

    package func message(of event: EventRecord) -> Message? { event.subject.message.flatMap { messages[$0] } }
}
