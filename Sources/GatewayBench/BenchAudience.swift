import CommandSupport
import Foundation
import Model
import PostgresClient

/// Creates devices for a benchmark or a soak test directly in the database, because registration is not what is measured.
struct BenchAudience {
    /// The engine's connections; one statement inserts thousands of rows.
    let engine: PostgresPool
    let tenant: TenantID
    let app: AppID
    /// The vendor of the identities.
    var vendor = Vendor.native
    /// 20,000 devices per statement: short transactions, and a moving progress bar.
    private static let pageCount = 20_000

    /// A UUIDv7 with the millisecond n of an epoch, as registration would create it: rows created together are stored together.
    private static func id(_ salt: String) -> String {
        "(lpad(to_hex(n), 12, '0') || '7' || left(md5('\(salt)' || n), 3) || '8' || right(md5('\(salt)' || n), 15))::uuid"
    }

    /// Token n starts with n in hex digits, followed by noise.
    private static let devices = """
        INSERT INTO gateway.device
            (tenant_id, device_id, app_id, platform, environment, token, token_state, token_registered_at, created_at, seen_at)
        SELECT $1, \(id("device")), $2, 'ios', 'production', lpad(to_hex(n), 32, '0') || md5(n::text), 'active', now(),
            now(), now()
        FROM generate_series($3::bigint, $4::bigint) AS n
        """
    private static let identities = """
        INSERT INTO gateway.identity (tenant_id, identity_id, app_id, vendor, key, device_id, state, registered_at, created_at)
        SELECT $1, \(id("identity")), $2, $5, 'bench-' || n, \(id("device")), 'active', now(), now()
        FROM generate_series($3::bigint, $4::bigint) AS n
        """
    private static let count = """
        INSERT INTO gateway.identity_count (tenant_id, app_id, vendor, bucket, active) VALUES ($1, $2, $4, 0, $3::bigint)
        ON CONFLICT (tenant_id, app_id, vendor, bucket) DO UPDATE SET active = excluded.active
        """

    /// - Throws: the error of the database.
    func make(_ total: Int) async throws {
        var bar = ProgressBar()
        let vendor = PostgresValue.text(vendor.rawValue)
        let owner: [PostgresValue] = [.text(tenant.rawValue), .text(app.rawValue)]
        for first in stride(from: 1, through: total, by: Self.pageCount) {
            bar.show(done: first - 1, of: total, rows: first - 1)
            let range: [PostgresValue] = [.int64(Int64(first)), .int64(Int64(min(first + Self.pageCount - 1, total)))]
            _ = try await engine.run(
                [Statement(Self.devices, owner + range), Statement(Self.identities, owner + range + [vendor])],
                tenant: nil
            )
        }
        bar.show(done: total, of: total, rows: total, isLast: true)
        _ = try await engine.run(Statement(Self.count, owner + [.int64(Int64(total)), vendor]), tenant: nil)
        _ = try await engine.run(Statement("SELECT gateway.analyze_devices()"), tenant: nil)
    }
}
