import Model

/// The sizes and counts of this vendor. The vendor publishes one, the 50 messages of a page; the others are decisions of this project.
package enum IPNSLimits {
    /// 64 KiB. A device call consists of a few ids: longer bodies would use memory before any tenant is known.
    package static let deviceBodyBytes = 64 * 1024

    /// 256 KiB for a send: 1,000 recipients, and a message with all its escapes.
    package static let senderBodyBytes = 256 * 1024

    /// 128 bytes per id. Longer ids would be stored and echoed for any caller.
    package static let identifierBytes = 128

    /// 64 characters of a key or of an operation's name are compared; none is longer.
    package static let keyCharacters = 64

    /// 4,096 bytes per token: the longest token that a push service issues (FCM).
    package static let tokenBytes = 4 * 1024

    /// An APNs token has at least 64 hex digits (docs/contracts/ipns.md#2.5).
    package static let tokenDigits = 64

    /// 20 messages in a page without a count (docs/contracts/ipns.md#2.9).
    package static let pageCount = 20

    /// 10 messages in a poll without a count (docs/contracts/ipns.md#2.10).
    package static let pollCount = 10

    /// 1,000 recipients in one send. Assumed: half of the number that the accepting transaction counts, as a user may have two devices.
    package static let recipientCount = 1000

    /// 500 devices in one call to the vendor's server. Assumed: half of what the gateway itself accepts is safe for a server of another size.
    package static let upstreamTargets = 500

    /// 1,000 pairs in a form: parsing is linear, but each pair uses memory.
    package static let formPairCount = 1000

    /// 256 bytes per title, which only histories show.
    package static let titleBytes = 256

    /// 1,024 bytes per alert: even with escapes it fits in every push together with the ids, so none of it is lost.
    package static let alertBytes = 1024

    /// 32 KiB per message: a device fetches the part that does not fit in the push.
    package static let messageBytes = 32 * 1024
}
