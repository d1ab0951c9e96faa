import HTTP2
import Logging
import Model
import Testing

@testable import Gateway
@testable import GatewayHTTP

/// M8: connections per address, and the limit of open files.
struct ConnectionLimitTests {
    private func limit(_ edit: (inout CallLimitSettings) -> Void) throws -> ConnectionLimit {
        var settings = CallLimitSettings()
        settings.connections = 2
        edit(&settings)
        return ConnectionLimit(
            limiter: CallLimiter(settings, logger: Logger(label: "limits") { _ in SwiftLogNoOpLogHandler() }),
            proxies: TrustedProxies([try #require(AddressRange("192.0.2.0/24"))])
        )
    }

    @Test func anAddressHasAtMostItsConnections() throws {
        let limit = try limit { _ in }
        #expect(limit.opens("198.51.100.1") && limit.opens("198.51.100.1"))
        #expect(!limit.opens("198.51.100.1") && !limit.opens("198.51.100.1"))
        #expect(limit.opens("198.51.100.2"), "another address")
        limit.closed("198.51.100.1")
        #expect(limit.opens("198.51.100.1") && !limit.opens("198.51.100.1"))
        #expect(limit.opens("2001:db8::1") && limit.opens("2001:db8::2") && !limit.opens("2001:db8::3"))
        for address in ["198.51.100.1", "198.51.100.1", "198.51.100.2", "2001:db8::9", "2001:db8::9"] {
            limit.closed(address)
        }
        #expect(limit.count("198.51.100.1") == 0 && limit.count("2001:db8::1") == 0)
    }

    @Test func aTrustedProxyCarriesTheConnectionsOfMany() throws {
        let limit = try limit { _ in }
        #expect((0..<100).allSatisfy { _ in limit.opens("192.0.2.7") })
    }

    @Test(arguments: [0, 1, 2])
    func theLimitCanBeSwitchedOff(_ way: Int) throws {
        let network = try #require(AddressRange("198.51.100.0/24"))
        let limit = try limit {
            switch way {
            case 0: $0.connections = nil
            case 1: $0.isOn = false
            default: $0.exempt = [network]
            }
        }
        #expect((0..<100).allSatisfy { _ in limit.opens("198.51.100.1") })
        limit.closed("198.51.100.1")
    }

    @Test func aListenerHasAtMostItsConnections() throws {
        let address = try #require(ListenAddress("127.0.0.1:0"))
        var counted = CountedConnections(.http, on: address, maximum: 2)
        counted.connectionOpened()
        #expect(counted.isAcceptingNewConnections())
        counted.connectionOpened()
        #expect(!counted.isAcceptingNewConnections())
        counted.connectionClosed()
        #expect(counted.isAcceptingNewConnections())
    }

    // MARK: Open files

    @Test func fewOpenFilesReduceTheConnections() {
        #expect(OpenFiles(limit: 1_048_576, listeners: 2).connectionsPerListener == Listener.connectionLimit)
        #expect(OpenFiles(limit: 1_048_576, listeners: 2).warning == nil)
        let few = OpenFiles(limit: 4096, listeners: 2)
        #expect(few.problem == nil && few.connectionsPerListener == 1792)
        #expect(few.warning?.contains("LimitNOFILE=") == true && few.warning?.contains("33280") == true)
        let none = OpenFiles(limit: 256, listeners: 1)
        #expect(none.problem?.contains("LimitNOFILE=") == true && none.warning == nil)
        #expect(OpenFiles(limit: nil, listeners: 1).connectionsPerListener == Listener.connectionLimit)
    }

    @Test func theLimitIsRaisedOnce() throws {
        let limit = try #require(FileLimit.raise())
        #expect(limit > 0 && FileLimit.raise() == limit)
    }
}
