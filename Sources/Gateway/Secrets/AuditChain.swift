import Crypto
import EngineStore
import Foundation
package import Model
package import Store

/// The facts with which the start and the end of an audit are compared.
package struct AuditBounds: Sendable, Hashable {
    /// How long retention keeps the rows of the tenant.
    package var kept: Duration
    /// The last position that a copy outside of the database has; 0 without copies.
    package var copied: Int64
    package var now: Timestamp

    package init(kept: Duration, copied: Int64, now: Timestamp) {
        self.kept = kept
        self.copied = copied
        self.now = now
    }
}

/// Verifies the rows and checkpoints of one tenant's audit, in order. It is pure: rows go in, faults come out.
///
/// The rows form a chain: each contains a digest of itself and of the digest before it. So a changed, removed or reordered row breaks the chain, and whoever
/// repairs the chain must change all digests after it; then they differ from the signed checkpoints.
package struct AuditChain {
    /// At most this many faults are kept, so that a damaged audit does not fill the memory. `faultCount` counts all.
    package static let faultLimit = 20

    private let tenant: TenantID
    private let signers: [[UInt8]]
    private var checkpoints: ArraySlice<AuditCheckpoint>
    private var last: (position: Int64, hash: [UInt8]?)?
    /// The checkpoint behind which the rows begin, because those up to it were removed.
    private var beginning: AuditCheckpoint?
    /// Whether a row says that retention was shorter at a time when it removed the rows up to `beginning`.
    private var isExplained = false

    /// Rows with a digest, and rows without one.
    package private(set) var chained = 0
    package private(set) var unchained = 0
    /// Checkpoints whose signature and digest are right.
    package private(set) var confirmed = 0
    /// The position up to which a checkpoint confirms the audit.
    package private(set) var confirmedUntil: Int64?
    package private(set) var faults: [AuditFault] = []
    package private(set) var faultCount = 0

    /// - Parameters:
    ///   - tenant: the owner of the audit.
    ///   - checkpoints: all checkpoints of the tenant, by position.
    ///   - signers: the public keys whose signatures count.
    ///   - start: a checkpoint that was verified before: the first row follows it. Nil begins with the first row that is left.
    package init(
        _ tenant: TenantID,
        checkpoints: [AuditCheckpoint],
        signers: [[UInt8]],
        after start: AuditCheckpoint? = nil
    ) {
        self.tenant = tenant
        self.signers = signers
        self.checkpoints = checkpoints[...]
        last = start.map { ($0.position, $0.hash) }
    }

    /// Takes the next row.
    package mutating func add(_ link: AuditLink) {
        let first = last == nil
        if let last, link.position != last.position + 1 {
            note(
                link.position <= last.position
                    ? .repeated(link.position) : .missing(last.position + 1, link.position - 1)
            )
        }
        guard let hash = link.hash else {
            unchained += 1
            if last?.hash != nil { note(.withoutDigest(link.position)) }
            last = (link.position, nil)
            return
        }
        chained += 1
        let previous = first ? start(before: link) : last?.hash
        if Self.digest(link, after: previous ?? []) != hash { note(.changed(link.position)) }
        last = (link.position, hash)
        confirm(link.position, hash)
        explain(link)
    }

    /// Ends the audit: what the remaining checkpoints confirm, or a copy contains, is missing. Rows that retention keeps must not be missing at the beginning.
    package mutating func finish(_ bounds: AuditBounds) {
        let end = last?.position ?? 0
        let known = max(checkpoints.last?.position ?? 0, bounds.copied)
        if known > end { note(.missing(end + 1, known)) }
        checkpoints = []
        let now = Double(bounds.now.milliseconds) * 1000 + Double(Self.tolerance.milliseconds) * 1000
        if let beginning, !isExplained, !Self.removes(beginning, at: now, keeping: bounds.kept) {
            note(.removedEarly(beginning.position))
        }
    }

    /// The digest of a row: SHA-256 over the digest of the row before and the covered bytes.
    package static func digest(_ link: AuditLink, after previous: [UInt8]) -> [UInt8] {
        Array(SHA256.hash(data: previous + link.covered))
    }

    /// The rows that retention left begin behind a checkpoint, which contains the digest of the last removed row.
    private mutating func start(before link: AuditLink) -> [UInt8] {
        var found: AuditCheckpoint?
        while let next = checkpoints.first, next.position < link.position { found = checkpoints.removeFirst() }
        guard let found else {
            // A chain begins with the first row, or behind rows that programs without digests wrote and retention has removed.
            return []
        }
        guard found.position == link.position - 1 else {
            note(.missing(found.position + 1, link.position - 1))
            return []
        }
        if check(found) { confirmed += 1 }
        beginning = found
        return found.hash
    }

    /// An hour, for the clock of the machine that verifies, and for a removal under way.
    private static let tolerance = Duration.seconds(3600)
    /// The database keeps 30 days whatever the tenant's retention is (`drop_audit`).
    private static let leastKept = Duration.seconds(30 * 86400)

    /// Whether retention removes the rows up to `checkpoint` at a time in microseconds since 1970. Doubles, because the times of a changed database can be any.
    private static func removes(_ checkpoint: AuditCheckpoint, at micros: Double, keeping kept: Duration) -> Bool {
        micros - Double(checkpoint.micros) > Double(max(kept, leastKept).milliseconds) * 1000
    }

    /// Notes a change of the retention: until then the rows were kept for the time before it.
    private mutating func explain(_ link: AuditLink) {
        guard let beginning, !isExplained, link.action == "write", link.subject == "retention", let data = link.data,
            let changes = (try? JSONParser.parse(data))?["changes"]?.array
        else { return }
        for change in changes where change["setting"]?.string == "audit" {
            let before = change["before"]?.int.map { Duration.seconds($0) } ?? RetentionPolicy().audit
            // A removal that began before the change may have ended after it.
            let end = Double(link.micros) + Double(Self.tolerance.milliseconds) * 1000
            isExplained = isExplained || Self.removes(beginning, at: end, keeping: before)
        }
    }

    private mutating func confirm(_ position: Int64, _ hash: [UInt8]) {
        while let next = checkpoints.first, next.position <= position {
            checkpoints.removeFirst()
            guard next.position == position else { continue }
            guard check(next) else { continue }
            if next.hash == hash {
                confirmed += 1
                confirmedUntil = position
            } else {
                note(.differs(position))
            }
        }
    }

    private mutating func check(_ checkpoint: AuditCheckpoint) -> Bool {
        guard signers.contains(checkpoint.signer) else {
            note(.unknownSigner(checkpoint.position))
            return false
        }
        guard AuditSigner.isValid(checkpoint, of: tenant) else {
            note(.badSignature(checkpoint.position))
            return false
        }
        return true
    }

    private mutating func note(_ fault: AuditFault) {
        faultCount += 1
        if faults.count < Self.faultLimit { faults.append(fault) }
    }
}

/// A finding of the verification of an audit.
package enum AuditFault: Sendable, Hashable, CustomStringConvertible {
    /// The digest does not fit the row and the digest before it.
    case changed(Int64)
    /// Rows from the first to the last position are missing.
    case missing(Int64, Int64)
    /// The position is not higher than that of the row before it.
    case repeated(Int64)
    /// A row without a digest follows one with a digest.
    case withoutDigest(Int64)
    /// The digest is not the one that the checkpoint signed.
    case differs(Int64)
    case badSignature(Int64)
    /// The rows up to this position are missing, and retention does not remove them yet.
    case removedEarly(Int64)
    /// The checkpoint was signed by another key than the master key's.
    case unknownSigner(Int64)

    package var description: String {
        switch self {
        case .changed(let position): "row \(position) was changed, or a row before it was replaced"
        case .missing(let first, let last):
            first == last ? "row \(first) is missing" : "rows \(first) to \(last) are missing"
        case .repeated(let position): "row \(position) is in the wrong place"
        case .withoutDigest(let position): "row \(position) has no digest, and the row before it has one"
        case .differs(let position): "row \(position) is not the row that checkpoint \(position) signed"
        case .removedEarly(let position):
            "the rows up to \(position) are missing, and retention does not remove them yet"
        case .badSignature(let position): "the signature of checkpoint \(position) is wrong"
        case .unknownSigner(let position):
            "checkpoint \(position) was signed with another master key; name its public key with --signer if that was right"
        }
    }
}
