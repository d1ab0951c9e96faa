import Model

/// The sizes and counts of this vendor. The vendor publishes almost none; docs/contracts/rationalowl.md marks the others `Assumed:`.
package enum RationalOwlLimits {
    /// 64 KiB. A device call consists of a few ids: longer bodies would use memory before any tenant is known (docs/contracts/rationalowl.md#3).
    package static let deviceBodyBytes = 64 * 1024

    /// 10 MiB, because a sender's image is sent as base64 in the call (docs/contracts/rationalowl.md#3). With more, one call could use up a node's memory.
    package static let senderBodyBytes = 10 * 1024 * 1024

    /// The size that fits in the body as base64. There is not a smaller limit, because the vendor only recommends 300 KiB
    /// (docs/contracts/rationalowl.md#5.7).
    package static let imageBytes = senderBodyBytes / 4 * 3

    /// 128 bytes per id (docs/contracts/rationalowl.md#1). Longer ids would be stored and echoed for any caller.
    package static let identifierBytes = 128

    /// 100 back ends in a provisioning file; each is compared with the others.
    package static let provisionedSenders = 100

    /// 256 bytes for names of people, senders and images. Assumed: names are shown in lists, so a longer one is a mistake or an attack.
    package static let nameBytes = 256

    /// 2048 bytes per callback URL, a length that every browser and proxy accepts.
    package static let urlBytes = 2048

    /// 2,000 CP949 bytes per text, as in the vendor's editor (docs/contracts/rationalowl.md#4.3). Assumed: for a title too.
    package static let textBytes = 2000

    /// 64 KiB of UTF-8 for the same text before its CP949 bytes are counted, so that the counting is bounded.
    package static let textRawBytes = 64 * 1024

    /// 2,000 targets per call (docs/contracts/rationalowl.md#8.3); they are counted in the accepting transaction.
    package static let targetCount = Audience.listedLimit

    /// 100 arguments per template. Assumed: templates have fewer variables, and each argument is stored with the message.
    package static let templateArgumentCount = 100

    /// A phone number has 8…15 digits (docs/contracts/rationalowl.md#4.3).
    package static let phoneDigits = 8...15

    /// 32 bytes for a phone number as typed, with spaces, dashes and country code.
    package static let phoneBytes = 32

    /// 1,000 pairs in a form body: parsing is linear, but each pair uses memory.
    package static let formPairCount = 1000

    /// 100 characters for a text that the app replaces in any case (docs/contracts/rationalowl.md#6.2).
    package static let previewCharacters = 100

    /// 100 characters per title (docs/contracts/rationalowl.md#6.2).
    package static let titleCharacters = 100

    /// 40 characters for the copies of a title, which the app replaces in any case (docs/contracts/rationalowl.md#6.2).
    package static let titlePreviewCharacters = 40

    /// At most 4 bytes per character that is kept, so that a "character" of a thousand combining marks is cut as well.
    package static let bytesPerCharacter = 4
}
