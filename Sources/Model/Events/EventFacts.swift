/// The facts that an export adds to events: the identities, devices and messages to which a page refers.
package struct EventFacts: Sendable, Hashable {
    /// An identity or device in its current state, because an event does not contain the state at the time of its writing.
    package struct Identity: Sendable, Hashable {
        package var key: VendorDeviceKey?
        package var user: UserID?
        /// Nil: the identity has no device.
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

    /// The dialect in which a message was sent, and the members of its data that the export requested.
    package struct Message: Sendable, Hashable {
        package var origin: Vendor
        package var data: JSONObject

        package init(origin: Vendor, data: JSONObject) {
            self.origin = origin
            self.data = data
        }
    }

    package var identities: [IdentityID: Identity]
    /// The devices to which events refer, each with an active identity if it has one.
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

    /// The identity to which an event refers.
    package func identity(of event: EventRecord) -> Identity? {
        event.subject.identity.flatMap { identities[$0] } ?? event.subject.device.flatMap { devices[$0] }
    }

    /// The device of an event: the one that the event names, otherwise that of its identity.
    package func device(of event: EventRecord) -> Identity? {
        event.subject.device.flatMap { devices[$0] } ?? event.subject.identity.flatMap { identities[$0] }
    }

    package func message(of event: EventRecord) -> Message? { event.subject.message.flatMap { messages[$0] } }
}
