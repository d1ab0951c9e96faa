package import HTTP2

/// The fields of an APNs request and answer, each spelt once.
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

    /// The channel of a broadcast or of a call about one, and in the answer the one that was made.
    package static let channelID = FieldName("apns-channel-id")
    /// What `apns-id` is to a push; echoed.
    package static let requestID = FieldName("apns-request-id", indexing: .nameOnce)

    /// Only Apple's development environment answers with one: the key to its delivery log.
    package static let uniqueID = FieldName("apns-unique-id")
    /// Not documented for APNs; believed if it comes.
    package static let retryAfter = FieldName("retry-after")

    /// What is kept of an answer.
    static let collected = [id, uniqueID, retryAfter]
    /// What is kept of an answer to a broadcast or to a call about channels.
    static let collectedForChannels = [requestID, channelID, uniqueID, retryAfter]
}
