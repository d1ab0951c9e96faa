package import Model

/// One push with a typed payload: what a sender that knows APNs writes, and turns into a `Push` for the batch door.
package struct APNsNotification: Sendable {
    package var token: DeviceToken
    package var environment: PushEnvironment
    /// Bundle id without the type's suffix; the whole topic for `mdm` and for types that we do not know.
    package var topic: String
    /// The same in every retry.
    package var id: PushID
    package var type: PushType
    /// Nil: the type's own.
    package var priority: Int?
    /// Nil: the type's own rule.
    package var expiresAt: Timestamp?
    /// At most 64 bytes.
    package var collapseID: String?
    package var payload: APNsPayload

    package init(
        token: DeviceToken,
        environment: PushEnvironment = .production,
        topic: String,
        id: PushID,
        type: PushType = .alert,
        priority: Int? = nil,
        expiresAt: Timestamp? = nil,
        collapseID: String? = nil,
        payload: APNsPayload
    ) {
        self.token = token
        self.environment = environment
        self.topic = topic
        self.id = id
        self.type = type
        self.priority = priority
        self.expiresAt = expiresAt
        self.collapseID = collapseID
        self.payload = payload
    }

    /// The push as the transport takes it, its payload checked. Its headers are the transport's to check, as those of every push; who wants to
    /// know before asks `PushGuard`.
    ///
    /// - Parameters:
    ///   - slot: the caller's index, which the completion carries.
    ///   - encoder: writes the payload; its memory is used again.
    /// - Returns: a push whose payload Apple would take.
    /// - Throws: `PushFault` with the field and the rule.
    package func push(slot: Int, with encoder: inout PayloadEncoder) throws(PushFault) -> Push {
        return Push(
            slot: slot,
            token: token,
            environment: environment,
            topic: topic,
            id: id,
            payload: try encoder.payload(payload, type: type, priority: priority, collapseID: collapseID),
            expiresAt: expiresAt
        )
    }
}
