/// The sizes and counts of this vendor. The vendor publishes none, so all are decisions of this project. Each states the harm of larger values.
package enum UPMCLimits {
    /// 256 KiB per call: a message has 64 KiB of content, a list 2,000 users.
    package static let bodyBytes = 256 * 1024
    /// 2 MiB per call with a file: 2,000 rows with ten variables each.
    package static let fileBodyBytes = 2 * 1024 * 1024
    /// 256 fields per form: the largest call has thirty, and a repeated `CUID` is meant for a short list.
    static let fieldCount = 256
    /// 64 KiB of undecoded query: proxies truncate longer ones.
    static let queryBytes = 64 * 1024
    /// 70 bytes per boundary (RFC 2046 §5.1.1).
    static let boundaryBytes = 70
    /// 4 KiB for the headers of one part: a part has two or three short ones.
    static let partHeaderBytes = 4 * 1024
    /// 128 bytes per id: ids are index columns.
    static let identifierBytes = 128
    /// 4 KiB per token: FCM's are the longest.
    static let tokenBytes = 4 * 1024
    /// 32 KiB per text field: the message's content contains two of them.
    static let textBytes = 32 * 1024
    /// 2,000 addressees per call, as for all vendors: they are counted in the accepting transaction.
    static let recipientCount = 2000
    /// 12 columns: `CUID`, `CNAME`, `VAR1` … `VAR10` (docs/contracts/upmc.md#1.9.3).
    static let columnCount = 12
    /// 1,000: the largest badge that a caller may set (docs/contracts/upmc.md#1.8.11).
    static let badge = 1000
    /// 20 messages in a page without a count (docs/contracts/upmc.md#1.11).
    static let historyCount = 20
    /// A send may be restricted to 1,000 devices: each is a lookup.
    static let tokenCount = 1000
    /// 1,000 targets in one call to the vendor's server, because their tokens may be listed.
    static let upstreamTargets = tokenCount
    /// 1,000,000,000 targets in the answer to a send: more than an app has devices. Larger numbers would overflow when they are added up.
    static let audience: Int64 = 1_000_000_000
    /// 8 KiB of such a call for the names of its parameters, boundaries and brackets.
    static let callFrameBytes = 8 * 1024
    /// 16 KiB for a document for a network other than Apple's, before its size is checked.
    static let otherPayloadBytes = 16 * 1024
    /// A reservation that is more than an hour late is refused (docs/contracts/upmc.md#1.5, `5500`).
    static let reservationDelay: Duration = .seconds(3600)
    /// An `AUTHKEY` is valid for 24 hours (docs/contracts/upmc.md#1.4).
    static let keyLife: Duration = .seconds(86_400)

    /// 16 bytes: a shorter secret can be guessed.
    static let secretBytes = 16
}
