/// Sizes and counts of this dialect. The vendor publishes none, so all are decisions of ours. Each names the harm above it.
package enum UPMCLimits {
    /// 256 KiB of a call: a message has 64 KiB of content, a list 2,000 users.
    package static let bodyBytes = 256 * 1024
    /// 2 MiB of a call that carries a file: 2,000 rows with ten variables each.
    package static let fileBodyBytes = 2 * 1024 * 1024
    /// 256 fields of one form: the largest call has thirty, a repeated `CUID` is meant to be a list of a few.
    static let fieldCount = 256
    /// 64 KiB of undecoded query: longer ones are cut by proxies.
    static let queryBytes = 64 * 1024
    /// 70 bytes of a boundary (RFC 2046 §5.1.1).
    static let boundaryBytes = 70
    /// 4 KiB of one part's headers: a part has two or three short ones.
    static let partHeaderBytes = 4 * 1024
    /// 128 bytes of an id: they are index columns.
    static let identifierBytes = 128
    /// 4 KiB of a token: FCM's are the longest.
    static let tokenBytes = 4 * 1024
    /// 32 KiB of a text field: the message's content holds two of them.
    static let textBytes = 32 * 1024
    /// 2,000 addressees of one call, as everywhere: they are counted in the accepting transaction.
    static let recipientCount = 2000
    /// 12 columns: `CUID`, `CNAME`, `VAR1` … `VAR10` (docs/contracts/upmc.md#1.9.3).
    static let columnCount = 12
    /// 1,000: the largest badge that a caller may set (docs/contracts/upmc.md#1.8.11).
    static let badge = 1000
    /// 20 messages of a page without a count (docs/contracts/upmc.md#1.11).
    static let historyCount = 20
    /// 1,000 devices that a send is narrowed to: each is a look-up.
    static let tokenCount = 1000
    /// 16 KiB of a document for another network than Apple's, before its size is checked.
    static let otherPayloadBytes = 16 * 1024
    /// A reservation that is more than an hour late is refused (docs/contracts/upmc.md#1.5, `5500`).
    static let reservationDelay: Duration = .seconds(3600)
    /// An `AUTHKEY` is valid for 24 hours (docs/contracts/upmc.md#1.4).
    static let keyLife: Duration = .seconds(86_400)
}
