import Model

/// Sizes and counts of this vendor. The vendor publishes almost none; docs/contracts/rationalowl.md marks the others `Assumed:`.
package enum RationalOwlLimits {
    /// 64 KiB. A device call consists of a few ids: longer bodies would use memory before any tenant is known (docs/contracts/rationalowl.md#3).
    package static let deviceBodyBytes = 64 * 1024

    /// 10 MiB, because a sender's image is sent as base64 in the call (docs/contracts/rationalowl.md#3). Above it one call could hold a node's memory.
    package static let senderBodyBytes = 10 * 1024 * 1024

    /// The size that fits into the body as base64. No smaller limit: the vendor only recommends 300 KiB (docs/contracts/rationalowl.md#5.7).
    package static let imageBytes = senderBodyBytes / 4 * 3

    /// 128 bytes for any id (docs/contracts/rationalowl.md#1). Longer ids would be stored and echoed for any caller.
    package static let identifierBytes = 128

    /// 256 bytes for names of people, senders and images. Assumed: a name is shown in lists, so that a longer one is a mistake or an attack.
    package static let nameBytes = 256

    /// 2048 bytes for a callback URL, which every browser and proxy takes.
    package static let urlBytes = 2048

    /// 2,000 CP949 bytes for the text, as in the vendor's editor (docs/contracts/rationalowl.md#4.3). Assumed: for a title too.
    package static let textBytes = 2000

    /// 64 KiB of UTF-8 for the same text before its CP949 bytes are counted, so that counting is bounded.
    package static let textRawBytes = 64 * 1024

    /// 2,000 targets in one call (docs/contracts/rationalowl.md#8.3); they are counted in the accepting transaction.
    package static let targetCount = Audience.listedLimit

    /// 100 arguments for one template. Assumed: no template has that many variables, and each is stored with the message.
    package static let templateArgumentCount = 100

    /// A phone number has 8…15 digits (docs/contracts/rationalowl.md#4.3).
    package static let phoneDigits = 8...15

    /// 32 bytes of a phone number as typed, with spaces, dashes and country code.
    package static let phoneBytes = 32

    /// 1,000 pairs in a form body: splitting is linear, but each pair is a key in memory.
    package static let formPairCount = 1000

    /// 100 characters of a text that the app replaces anyway (docs/contracts/rationalowl.md#6.2).
    package static let previewCharacters = 100

    /// 100 characters of a title (docs/contracts/rationalowl.md#6.2).
    package static let titleCharacters = 100

    /// 40 characters of the copies of a title, which the app replaces anyway (docs/contracts/rationalowl.md#6.2).
    package static let titlePreviewCharacters = 40

    /// 4 bytes for each character kept, so that a "character" of a thousand combining marks is cut as well.
    package static let bytesPerCharacter = 4
}
