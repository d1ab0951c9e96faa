import Model

/// Sizes and counts of this dialect. The vendor publishes almost none, so most are decisions of the contract, tagged (D) there.
package enum RationalOwlLimits {
    /// 64 KiB. A device call is a handful of ids: anything longer only costs memory before any tenant is known (contract §3).
    package static let deviceBodyBytes = 64 * 1024

    /// 10 MiB, because a sender's image travels as base64 inside the call (contract §3). Above it one call could hold a node's memory.
    package static let senderBodyBytes = 10 * 1024 * 1024

    /// What fits into the body as base64. No smaller limit of its own: the vendor only recommends 300 KiB (contract §5.7).
    package static let imageBytes = senderBodyBytes / 4 * 3

    /// 128 bytes for any id (contract §1, "Id shapes"). Longer ones would be stored and echoed for whoever sends them.
    package static let identifierBytes = 128

    /// 256 bytes for names of people, senders and images. Assumed: a name is shown in lists, so that a longer one is a mistake or an attack.
    package static let nameBytes = 256

    /// 2048 bytes for a callback URL, which every browser and proxy takes.
    package static let urlBytes = 2048

    /// 2,000 CP949 bytes for the text, as in the vendor's editor (contract §4.3). Assumed: for a title too.
    package static let textBytes = 2000

    /// 64 KiB of UTF-8 for the same text before its CP949 bytes are counted, so that counting is bounded.
    package static let textRawBytes = 64 * 1024

    /// 2,000 targets in one call (contract §8.3); they are counted in the accepting transaction.
    package static let targetCount = Audience.listedLimit

    /// 100 arguments for one template. Assumed: no template has that many variables, and each is stored with the message.
    package static let templateArgumentCount = 100

    /// 8…15 digits make a phone number (contract §4.3).
    package static let phoneDigits = 8...15

    /// 32 bytes of a phone number as typed, with spaces, dashes and country code.
    package static let phoneBytes = 32

    /// 1,000 pairs in a form body: splitting is linear, but each pair is a key in memory.
    package static let formPairCount = 1000

    /// 100 characters stay of a text that the app replaces anyway (contract §6.2).
    package static let previewCharacters = 100

    /// 100 characters of a title (contract, Decisions).
    package static let titleCharacters = 100

    /// 40 characters of the copies of a title that the app replaces anyway (contract, Decisions).
    package static let titlePreviewCharacters = 40

    /// 4 bytes for each character kept, so that a "character" of a thousand combining marks is cut as well.
    package static let bytesPerCharacter = 4
}
