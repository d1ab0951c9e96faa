import EngineStore
import Foundation
import Logging
import Model
import Observability
import ServiceLifecycle
import Store

/// Appends the rows of the audit to a file, one JSON object per line, in the order of each tenant. One node does it at a time. A row is written at least once: after
/// a crash, the rows since the last note are written again.
///
/// The file is opened for each batch, so that it can be rotated by renaming it. It contains pseudonyms, never the names of people.
struct AuditFileService: Service {
    /// Two seconds.
    static let period = Duration.seconds(2)
    /// 500 rows of some hundred bytes.
    static let pageSize = 500

    let path: String
    let keeper: PostgresAuditKeeper
    let store: PostgresAuditStore
    let logger: Logger

    func run() async throws {
        await cancelWhenGracefulShutdown {
            while !Task.isCancelled {
                do {
                    try await copy()
                } catch {
                    logger.error(
                        "the audit cannot be copied to audit.file; the next run tries again",
                        metadata: [LogKey.error: "\(error)"]
                    )
                }
                try? await Task.sleep(for: Self.period)
            }
        }
    }

    /// Appends all rows that were not copied yet.
    ///
    /// - Throws: `StoreError`, or the error of the file.
    func copy() async throws {
        for behind in try await keeper.behind(.file) ?? [] {
            let tenant = behind.tenant
            var position = behind.after
            while true {
                let links = try await store.links(in: tenant, after: position, limit: Self.pageSize)
                guard let last = links.last else { break }
                try append(links.map { Self.line($0, tenant) }.joined())
                position = last.position
                try await keeper.noteCopied(.file, upTo: position, in: tenant)
                if links.count < Self.pageSize { break }
            }
        }
    }

    /// Appends text to the file, which is created with mode 0600, and waits until it is on the disk.
    private func append(_ text: String) throws {
        if !FileManager.default.fileExists(atPath: path) {
            let mode: [FileAttributeKey: Any] = [.posixPermissions: 0o600]
            guard FileManager.default.createFile(atPath: path, contents: nil, attributes: mode) else {
                throw CocoaError(.fileWriteUnknown)
            }
        }
        let file = try FileHandle(forWritingTo: URL(fileURLWithPath: path))
        defer { try? file.close() }
        try file.seekToEnd()
        try file.write(contentsOf: Data(text.utf8))
        try file.synchronize()
    }

    static func line(_ link: AuditLink, _ tenant: TenantID) -> String { object(link, tenant) + "\n" }

    /// The JSON object of a row.
    static func object(_ link: AuditLink, _ tenant: TenantID) -> String {
        let at = Timestamp(milliseconds: link.micros / 1000)
        var object = JSONObject([
            ("tenant", .string(tenant.rawValue)), ("position", .int(link.position)), ("at", .string(at.rfc3339)),
            ("micros", .int(link.micros)),
            ("actor", .string(link.actor)), ("action", .string(link.action)), ("subject", .string(link.subject)),
        ])
        if let data = link.data { object["data"] = .string(data) }
        if let hash = link.hash { object["hash"] = .string(HexCoding.encode(hash)) }
        return JSONWriter.text(.object(object))
    }
}
