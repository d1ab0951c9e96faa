package import HTTP2

/// The fields of an APNs request and answer.
///
/// Source: Apple, "Sending notification requests to APNs"; HPACK indexing of each: docs/contracts/apns.md#7.
package enum APNsHeader {
    package static let topic = FieldName("apns-topic")
    package static let pushType = FieldName("apns-push-type")
    package static let priority = FieldName("apns-priority")
    package static let id = FieldName("apns-id", indexing: .nameOnce)
    package static let expiration = FieldName("apns-expiration", indexing: .nameOnce)
    package static let collapseID = FieldName("apns-collapse-id", indexing: .nameOnce)
    package static let authorization = FieldName("authorization", indexing: .never)

    /// The channel of a broadcast or of a request about a channel; in the answer, the channel that was created.
    package static let channelID = FieldName("apns-channel-id")
    /// The id of a request about channels, as `apns-id` is the id of a push; APNs returns it.
    package static let requestID = FieldName("apns-request-id", indexing: .nameOnce)

    /// Only Apple's development environment sends it: the key to its delivery log.
    package static let uniqueID = FieldName("apns-unique-id")
    /// Not documented for APNs, but used if it is present.
    package static let retryAfter = FieldName("retry-after")

    /// The fields of an answer that are kept.
    static let collected = [id, uniqueID, retryAfter]
    /// The fields that are kept of an answer to a broadcast or to a request about channels.
    static let collectedForChannels = [requestID, channelID, uniqueID, retryAfter]
}
