import DatabaseSupport
import Foundation
import Testing

@testable import EmbeddedPostgres
@testable import PostgresClient

/// Connection strings with several servers, as used for a failover.
@Suite struct HostListTests {
    private func hosts(_ string: String) throws -> [[String: String]] {
        HostList(try PGConnection.parse(string)).servers.map { Dictionary($0.map { ($0.keyword, $0.value) }) { $1 } }
    }

    @Test func aURLWithSeveralServersIsTriedOneByOne() throws {
        let list = try hosts(
            "postgresql://me@a,b:6432,[::1]:7432/gateway?target_session_attrs=read-write&user=gateway_call"
        )
        #expect(list.map { $0["host"] } == ["a", "b", "::1"])
        #expect(list.map { $0["port"] } == ["", "6432", "7432"])
        #expect(list.allSatisfy { $0["target_session_attrs"] == "read-write" && $0["user"] == "gateway_call" })
    }

    // libpq's default for such a connection accepts a server with any certificate of the authority, or without TLS.
    @Test(arguments: [
        ("host=db sslrootcert=/ca.pem", "verify-full"), ("postgresql://db/gateway?sslrootcert=/ca.pem", "verify-full"),
        ("host=db sslrootcert=/ca.pem sslmode=require", "require"), ("host=db", nil),
        ("host=db sslmode=prefer", "prefer"),
    ])
    func authoritiesWithoutAModeMeanAFullCheck(_ string: String, _ mode: String?) throws {
        let parameters = try PostgresSession.parameters(of: PostgresConfiguration(string))
        #expect(parameters.first { $0.keyword == "sslmode" }?.value == mode)
        #expect(try PostgresConfiguration.environment(of: string)["PGSSLMODE"] == mode)
    }

    @Test func onePortServesAllHosts() throws {
        let list = try hosts("host=a,b port=6432 dbname=gateway")
        #expect(list.map { $0["host"] } == ["a", "b"] && list.allSatisfy { $0["port"] == "6432" })
    }

    @Test(arguments: [
        "host=a dbname=gateway", "dbname=gateway", "host=a,b port=1,2,3",
        "host=a,b target_session_attrs=prefer-standby",
    ])
    func otherFormsOfHostListsArePassedToLibpq(_ string: String) throws { #expect(try hosts(string).count == 1) }

    /// A primary whose machine is down neither refuses a connection nor answers.
    @Test func aServerThatIsSilentDoesNotHideTheNext() async throws {
        let silent = try SilentListener()
        let database = try await TestCluster.database(migrated: false)
        let directory = database.cluster.socketDirectory
        var configuration = PostgresConfiguration(
            "host=127.0.0.1,\(directory) port=\(silent.port),5432 user=gateway_admin dbname=\(database.name) "
                + "target_session_attrs=read-write"
        )
        // The timeout is long, because a hundred tests start at once. The silent server uses half of it.
        configuration.connectTimeout = .seconds(80)
        let started = ContinuousClock.now
        let first = try await PostgresConnection.connect(configuration, logger: TestCluster.logger)
        #expect(try await first.query("SELECT 1 AS n").only().int("n") == 1)
        #expect(ContinuousClock.now - started >= .seconds(39))
        // The next session connects to the server that accepted the first one.
        let again = ContinuousClock.now
        _ = try await PostgresConnection.connect(configuration, logger: TestCluster.logger)
        #expect(ContinuousClock.now - again < .seconds(39))
    }

    /// A standby answers but does not accept writes; `target_session_attrs` skips it.
    @Test func aServerThatAcceptsNoWritesIsSkipped() async throws {
        let database = try await TestCluster.database(migrated: false)
        let admin = try await database.admin()
        try await admin.script("ALTER DATABASE \(database.name) SET default_transaction_read_only = on")
        let directory = database.cluster.socketDirectory
        let string = "host=\(directory),\(directory) user=gateway_admin dbname=\(database.name) target_session_attrs="
        await #expect(throws: PostgresError.self) {
            try await PostgresConnection.connect(
                TestCluster.configuration(string + "read-write"),
                logger: TestCluster.logger
            )
        }
        _ = try await PostgresConnection.connect(TestCluster.configuration(string + "any"), logger: TestCluster.logger)
    }
}

/// A port of this machine that accepts connections and never answers.
private final class SilentListener {
    let port: Int
    private let descriptor: Int32

    init() throws {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let bound = unsafe withUnsafeMutablePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                unsafe bind(descriptor, address, size) == 0 && listen(descriptor, 8) == 0
                    && getsockname(descriptor, address, &size) == 0
            }
        }
        try #require(bound)
        self.descriptor = descriptor
        port = Int(UInt16(bigEndian: address.sin_port))
    }

    deinit { close(descriptor) }
}
