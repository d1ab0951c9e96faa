import CommandSupport
import Foundation
import Model
import PostgresClient

/// Devices for a bench or a soak, made by the database itself: how they register is not what is measured.
struct BenchAudience {
    /// The engine's connections: one statement makes rows by the thousand.
    let engine: PostgresPool
    let tenant: TenantID
    let app: AppID
    /// Whose identities they are.
    var vendor = Vendor.native
    /// 20,000 devices per statement: short transactions, and a bar that moves.
    private static let pageCount = 20_000

    /// A UUIDv7 made in the nth millisecond of an epoch, as registration makes them: rows that came together lie together.
    private static func id(_ salt: String) -> String {
        "(lpad(to_hex(n), 12, '0') || '7' || left(md5('\(salt)' || n), 3) || '8' || right(md5('\(salt)' || n), 15))::uuid"
    }

    /// Token n has n in front, as hex digits, and noise behind.
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

    /// - Throws: what the database says.
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
