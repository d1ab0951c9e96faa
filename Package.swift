// swift-tools-version: 6.2
// One manifest: the targets, the arrows between them (docs/architecture.md) and the settings every target shares.
import PackageDescription

/// Builds only the named targets, what they need, and their tests: `GATEWAY_ONLY=HTTP2,APNs swift test`.
/// Sanitizer runs use it, so that they do not compile the web framework. Unset: everything.
let only = Context.environment["GATEWAY_ONLY"].map { Set($0.split(separator: ",").map(String.init)) }

/// Adds the benchmark executables, which are no part of a normal build.
let withBenchmarks = Context.environment["GATEWAY_BENCHMARKS"] != nil

/// How programs and tests are linked: the toolchain's linker takes half the time of the system's.
let linking: [LinkerSetting] = [.unsafeFlags(["-use-ld=lld"])]

/// How packaged programs are linked in addition (`scripts/package`). Swift exports every symbol of a static program, for libraries that are loaded later: there
/// are none, and the names are 7 MB. Relocations are 4 MB that each start reads; only the linker of the toolchain packs them.
let packageLinking: [LinkerSetting] =
    Context.environment["GATEWAY_PACKAGE"] == nil
    ? []
    : [.unsafeFlags(["-Xlinker", "--no-export-dynamic", "-Xlinker", "-z", "-Xlinker", "pack-relative-relocs"])]

let settings: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .strictMemorySafety(),
    .treatAllWarnings(as: .error),
]

// MARK: Packages

enum External: String, CaseIterable {
    case argumentParser, asn1, asyncHTTPClient, certificates, configuration, crypto, httpTypes, hummingbird, log,
        metrics
    case mustache, nio, nioExtras, nioHTTP2, nioSSL, serviceLifecycle, subprocess, system, tracing, yams

    var package: Package.Dependency {
        switch self {
        case .argumentParser: .package(url: "https://github.com/apple/swift-argument-parser", exact: "1.8.2")
        case .asn1: .package(url: "https://github.com/apple/swift-asn1", exact: "1.7.4")
        case .asyncHTTPClient: .package(url: "https://github.com/swift-server/async-http-client", exact: "1.37.0")
        case .certificates: .package(url: "https://github.com/apple/swift-certificates", exact: "1.21.1")
        case .configuration:
            .package(url: "https://github.com/apple/swift-configuration", exact: "1.4.0", traits: ["YAML"])
        case .crypto: .package(url: "https://github.com/apple/swift-crypto", exact: "4.5.2")
        case .httpTypes: .package(url: "https://github.com/apple/swift-http-types", exact: "1.8.0")
        case .hummingbird: .package(url: "https://github.com/hummingbird-project/hummingbird", exact: "2.28.1")
        case .log: .package(url: "https://github.com/apple/swift-log", exact: "1.16.2")
        case .metrics: .package(url: "https://github.com/apple/swift-metrics", exact: "2.13.0")
        case .mustache: .package(url: "https://github.com/hummingbird-project/swift-mustache", exact: "2.1.1")
        case .nio: .package(url: "https://github.com/apple/swift-nio", exact: "2.101.2")
        case .nioExtras: .package(url: "https://github.com/apple/swift-nio-extras.git", exact: "1.35.2")
        case .nioHTTP2: .package(url: "https://github.com/apple/swift-nio-http2", exact: "1.46.0")
        case .nioSSL: .package(url: "https://github.com/apple/swift-nio-ssl", exact: "2.37.6")
        case .serviceLifecycle:
            .package(url: "https://github.com/swift-server/swift-service-lifecycle", exact: "2.13.0")
        case .subprocess: .package(url: "https://github.com/swiftlang/swift-subprocess", exact: "1.0.2")
        case .system: .package(url: "https://github.com/apple/swift-system", exact: "1.8.1")
        case .tracing: .package(url: "https://github.com/apple/swift-distributed-tracing", exact: "1.7.3")
        case .yams: .package(url: "https://github.com/jpsim/Yams", exact: "6.2.2")
        }
    }

    /// The repository's name, which is how a product names its package.
    var identity: String {
        switch self {
        case .argumentParser: "swift-argument-parser"
        case .asn1: "swift-asn1"
        case .asyncHTTPClient: "async-http-client"
        case .certificates: "swift-certificates"
        case .configuration: "swift-configuration"
        case .crypto: "swift-crypto"
        case .httpTypes: "swift-http-types"
        case .hummingbird: "hummingbird"
        case .log: "swift-log"
        case .metrics: "swift-metrics"
        case .mustache: "swift-mustache"
        case .nio: "swift-nio"
        case .nioExtras: "swift-nio-extras"
        case .nioHTTP2: "swift-nio-http2"
        case .nioSSL: "swift-nio-ssl"
        case .serviceLifecycle: "swift-service-lifecycle"
        case .subprocess: "swift-subprocess"
        case .system: "swift-system"
        case .tracing: "swift-distributed-tracing"
        case .yams: "Yams"
        }
    }
}

/// One arrow: to a target of ours, or to a product of somebody else's package.
enum Arrow {
    case ours(String)
    case product(String, External)

    var dependency: Target.Dependency {
        switch self {
        case .ours(let name): .target(name: name)
        case .product(let name, let package): .product(name: name, package: package.identity)
        }
    }
}

let httpTypes = Arrow.product("HTTPTypes", .httpTypes)
let locks = Arrow.product("NIOConcurrencyHelpers", .nio)
let crypto = Arrow.product("Crypto", .crypto)
let cryptoExtras = Arrow.product("CryptoExtras", .crypto)
let certificates = Arrow.product("X509", .certificates)
let log = Arrow.product("Logging", .log)
let tracing = Arrow.product("Tracing", .tracing)
let coreMetrics = Arrow.product("CoreMetrics", .metrics)
let metrics = Arrow.product("Metrics", .metrics)
let lifecycle = Arrow.product("ServiceLifecycle", .serviceLifecycle)
let nioCore = Arrow.product("NIOCore", .nio)
let nioPosix = Arrow.product("NIOPosix", .nio)
let nioHTTP1 = Arrow.product("NIOHTTP1", .nio)
let nioHTTP2 = Arrow.product("NIOHTTP2", .nioHTTP2)
let nioSSL = Arrow.product("NIOSSL", .nioSSL)
let httpClient = Arrow.product("AsyncHTTPClient", .asyncHTTPClient)
let hummingbird = Arrow.product("Hummingbird", .hummingbird)
let hummingbirdCore = Arrow.product("HummingbirdCore", .hummingbird)
let unixSignals = Arrow.product("UnixSignals", .serviceLifecycle)
let subprocess = Arrow.product("Subprocess", .subprocess)
let argumentParser = Arrow.product("ArgumentParser", .argumentParser)

// MARK: Targets

struct Part {
    enum Kind { case library, executable, test, system(pkgConfig: String?, apt: String) }
    var name: String
    var kind: Kind
    var path: String?
    var arrows: [Arrow] = []
    var exclude: [String] = []
    var resources: [Resource] = []

    static func library(
        _ name: String,
        path: String? = nil,
        exclude: [String] = [],
        _ arrows: [Arrow],
        resources: [Resource] = []
    ) -> Part {
        Part(name: name, kind: .library, path: path, arrows: arrows, exclude: exclude, resources: resources)
    }
    static func executable(_ name: String, path: String? = nil, _ arrows: [Arrow], resources: [Resource] = []) -> Part {
        Part(name: name, kind: .executable, path: path, arrows: arrows, resources: resources)
    }
    static func tests(_ name: String, _ arrows: [Arrow], resources: [Resource] = []) -> Part {
        Part(name: name, kind: .test, arrows: arrows, resources: resources)
    }
    static func system(_ name: String, pkgConfig: String?, apt: String) -> Part {
        Part(name: name, kind: .system(pkgConfig: pkgConfig, apt: apt))
    }

    var ours: [String] { arrows.compactMap { if case .ours(let name) = $0 { name } else { nil } } }

    var target: Target {
        let dependencies = arrows.map(\.dependency)
        switch kind {
        case .library:
            return .target(
                name: name,
                dependencies: dependencies,
                path: path,
                exclude: exclude,
                resources: resources,
                swiftSettings: settings
            )
        case .executable:
            return .executableTarget(
                name: name,
                dependencies: dependencies,
                path: path,
                resources: resources,
                swiftSettings: settings,
                linkerSettings: linking + packageLinking
            )
        case .test:
            return .testTarget(
                name: name,
                dependencies: dependencies,
                path: path,
                resources: resources,
                swiftSettings: settings,
                linkerSettings: linking
            )
        case .system(let pkgConfig, let apt):
            return .systemLibrary(name: name, pkgConfig: pkgConfig, providers: [.apt([apt])])
        }
    }
}

/// The vendors with a target of their own, and what each imports apart from `Model`, `ApplePayload` and `HTTPTypes`. Every other folder of `Sources/Adapters` is part of the
/// target `Adapters`; docs/adding-a-vendor.md says when a vendor gets a line here.
let vendors: [(name: String, arrows: [Arrow])] = [
    ("RationalOwl", []),
    ("IPNS", []),
    ("UPMC", [crypto]),
    ("NotificationHubs", [crypto]),
    ("Braze", [crypto, cryptoExtras, .ours("SignedTokens")]),
]

var parts: [Part] = [
    // System libraries, each imported by exactly one target.
    .system("CNGHTTP2", pkgConfig: "libnghttp2", apt: "libnghttp2-dev"),
    .system("COpenSSL", pkgConfig: "openssl", apt: "libssl-dev"),
    .system("CPQ", pkgConfig: "libpq", apt: "libpq-dev"),
    .system("CLinuxEvents", pkgConfig: nil, apt: "libc6-dev"),

    // The inside: values and rules.
    .library("Model", [httpTypes]),
    .library("Routing", [.ours("Model"), crypto]),
    // The steps from a vendor to the gateway: their rules, gates and states.
    .library("Migration", [.ours("Model"), .ours("Routing")]),
    .library(
        "Commands",
        [
            .ours("CaptureStore"), .ours("Model"), .ours("ObservationStore"), .ours("Store"), .ours("TransferStore"),
            locks,
        ]
    ),
    .library("DeliveryEngine", [.ours("Model"), .ours("Routing"), locks, log, metrics, lifecycle, tracing]),
    // Calls to addresses that tenants state: webhooks, callbacks and upstreams.
    .library(
        "Outgoing",
        [.ours("Model"), crypto, httpClient, httpTypes, locks, nioCore, nioHTTP1, nioPosix, nioSSL]
    ),
    .library(
        "Webhooks",
        [.ours("Model"), .ours("Outgoing"), crypto, httpClient, lifecycle, locks, log, nioCore, nioPosix, nioHTTP1]
    ),
    // Calls that the gateway has answered and that go to upstreams later.
    .library("Forwarding", [.ours("Model"), .ours("Outgoing"), httpTypes, lifecycle]),

    // Traces of sampled calls, and their exporter.
    .library(
        "Traces",
        [.ours("Model"), httpClient, lifecycle, locks, log, nioCore, nioHTTP1, nioPosix, nioSSL, tracing]
    ),

    // Apple's payloads: the one writer of `aps`.
    .library("ApplePayload", [.ours("Bytes"), .ours("Model")]),

    // Tokens of back ends that state who a caller is.
    .library("SignedTokens", [.ours("Model"), crypto, cryptoExtras]),

    // Vendors.
    .library(
        "Adapters",
        path: "Sources/Adapters",
        exclude: vendors.map(\.name),
        vendors.map { .ours($0.name) } + [.ours("ApplePayload"), .ours("Model"), crypto, httpTypes]
    ),

    // Transports.
    .library("Bytes", path: "Sources/HTTP2/Bytes", []),
    // Tasks on event loops. It is below HTTP2 because its one line runs a job of the runtime, which is unsafe.
    .library("LoopTasks", path: "Sources/HTTP2/Loops", [nioCore]),
    .library(
        "HTTP2",
        path: "Sources/HTTP2",
        exclude: ["Bytes", "Loops"],
        [.ours("Bytes"), .ours("CNGHTTP2"), .ours("COpenSSL"), .ours("CLinuxEvents"), locks]
    ),
    .library("APNs", [.ours("ApplePayload"), .ours("Bytes"), .ours("HTTP2"), .ours("Model"), locks]),

    // The web console: values in, HTML and SVG out. What pages are written with, the pages by the sections of the sidebar, and what writes them.
    .library("PageParts", path: "Sources/WebConsole/Parts", [.ours("Model"), crypto]),
    .library(
        "ConsoleDelivery",
        path: "Sources/WebConsole/Pages/Delivery",
        [.ours("PageParts"), .ours("Model"), crypto]
    ),
    .library(
        "ConsoleAudience",
        path: "Sources/WebConsole/Pages/Audience",
        [.ours("ConsoleDelivery"), .ours("DeviceFiles"), .ours("PageParts"), .ours("Model")]
    ),
    .library(
        "ConsoleOperations",
        path: "Sources/WebConsole/Pages/Operations",
        [.ours("PageParts"), .ours("Model")]
    ),
    .library(
        "ConsoleAdministration",
        path: "Sources/WebConsole/Pages/Administration",
        [.ours("ConsoleDelivery"), .ours("PageParts"), .ours("Model")]
    ),
    .library(
        "WebConsole",
        path: "Sources/WebConsole",
        exclude: ["Pages/Administration", "Pages/Audience", "Pages/Delivery", "Pages/Operations", "Parts"],
        [
            .ours("ConsoleAdministration"), .ours("ConsoleAudience"), .ours("ConsoleDelivery"),
            .ours("ConsoleOperations"), .ours("PageParts"), .ours("Model"), .product("Mustache", .mustache),
        ],
        resources: [.copy("Resources")]
    ),

    // Files of devices: readers without a store, which tests feed with any bytes.
    .library("DeviceFiles", [.ours("Model")]),

    // The store.
    .library("PostgresClient", path: "Sources/Postgres/Client", [.ours("CPQ"), .ours("CLinuxEvents"), locks, log]),
    .library(
        "DatabaseSchema",
        path: "Sources/Postgres/Schema",
        [.ours("PostgresClient")],
        resources: [.copy("tables"), .copy("routines"), .copy("migrations"), .copy("finish.sql")]
    ),
    .library(
        "EmbeddedPostgres",
        path: "Sources/Postgres/Embedded",
        [.ours("DatabaseSchema"), .ours("PostgresClient"), locks, log, subprocess]
    ),
    .library(
        "PostgresBackup",
        path: "Sources/Postgres/Backup",
        [.ours("DatabaseSchema"), .ours("EmbeddedPostgres"), .ours("PostgresClient"), crypto, log, subprocess]
    ),
    .library("PlanCheck", path: "Sources/Postgres/Plans", [.ours("PostgresClient")]),
    .library(
        "Store",
        path: "Sources/Postgres/Store",
        [.ours("DeliveryEngine"), .ours("Model"), .ours("PostgresClient"), .ours("Routing")]
    ),
    // Operations of `Store` for what upstreams do, and for back ends that send.
    .library(
        "ObservationStore",
        path: "Sources/Postgres/Observation",
        [.ours("Model"), .ours("PostgresClient"), .ours("Store")]
    ),
    // The members of groups with facts about their users, and the senders of apps.
    .library(
        "AudienceStore",
        path: "Sources/Postgres/AudienceStore",
        [.ours("Model"), .ours("PostgresClient"), .ours("Store")]
    ),
    // Templates of messages.
    .library(
        "TemplateStore",
        path: "Sources/Postgres/TemplateStore",
        [.ours("Model"), .ours("PostgresClient"), .ours("Store")]
    ),
    .library(
        "CaptureStore",
        path: "Sources/Postgres/CaptureStore",
        [.ours("Model"), .ours("PostgresClient"), .ours("Store")]
    ),
    // Exports of tenants, comparisons with exports, and what imports add to users.
    .library(
        "TransferStore",
        path: "Sources/Postgres/TransferStore",
        [.ours("Model"), .ours("PostgresClient"), .ours("Store")]
    ),
    // Migrations, and the counts that their gates compare.
    .library(
        "MigrationStore",
        path: "Sources/Postgres/MigrationStore",
        [.ours("EngineStore"), .ours("Model"), .ours("PostgresClient"), .ours("Store")]
    ),
    // Accounts of the web console and their sessions.
    .library(
        "AccountStore",
        path: "Sources/Postgres/AccountStore",
        [.ours("Model"), .ours("PostgresClient"), .ours("Store")]
    ),
    .library(
        "EngineStore",
        path: "Sources/Postgres/EngineStore",
        [
            .ours("CaptureStore"), .ours("DeliveryEngine"), .ours("Model"), .ours("PostgresClient"), .ours("Routing"),
            .ours("Store"),
        ]
    ),

    // The server: its parts, bottom up, and what connects them.
    .library(
        "Observability",
        path: "Sources/Gateway/Observability",
        [
            .ours("EngineStore"), .ours("Forwarding"), .ours("Model"), .ours("Webhooks"), coreMetrics, lifecycle, locks,
            log, metrics,
        ]
    ),
    .library(
        "GatewayHTTP",
        path: "Sources/Gateway/HTTP",
        [
            .ours("LoopTasks"), .ours("Model"), .ours("Observability"), .ours("Routing"), .ours("Traces"), tracing,
            hummingbird, hummingbirdCore,
            certificates, crypto, httpTypes, lifecycle, locks, log, metrics, nioCore,
            nioHTTP1, nioPosix, nioSSL,
            .product("SwiftASN1", .asn1), .product("NIOEmbedded", .nio), .product("NIOHTTPCompression", .nioExtras),
            .product("NIOHTTPTypes", .nioExtras), .product("NIOHTTPTypesHTTP1", .nioExtras),
        ]
    ),
    .library(
        "Secrets",
        path: "Sources/Gateway/Secrets",
        [
            .ours("EngineStore"), .ours("Store"), .ours("APNs"), .ours("HTTP2"), .ours("Model"),
            .product("SystemPackage", .system), crypto, locks, subprocess,
        ]
    ),
    .library(
        "Imports",
        path: "Sources/Gateway/Imports",
        [
            .ours("EngineStore"), .ours("Store"), .ours("Adapters"), .ours("Commands"), .ours("DeviceFiles"),
            .ours("Model"), .ours("TransferStore"), crypto, locks, nioCore,
        ]
    ),
    .library(
        "Explain",
        path: "Sources/Gateway/Explain",
        [
            .ours("APNs"), .ours("ApplePayload"), .ours("Commands"), .ours("DeliveryEngine"), .ours("EngineStore"),
            .ours("Model"), .ours("Routing"), .ours("Store"),
        ]
    ),
    .library(
        "CallAudit",
        path: "Sources/Gateway/CallAudit",
        [.ours("Store"), .ours("Commands"), .ours("Model"), locks]
    ),
    .library(
        "Provisioning",
        path: "Sources/Gateway/Provisioning",
        [
            .ours("EngineStore"), .ours("Store"), .ours("APNs"), .ours("Adapters"), .ours("DeliveryEngine"),
            .ours("Model"), .ours("Outgoing"), .ours("Routing"), .ours("Secrets"), .ours("SignedTokens"),
            .product("Yams", .yams), crypto,
        ]
    ),
    .library(
        "Migrations",
        path: "Sources/Gateway/Migrations",
        [
            .ours("EngineStore"), .ours("Migration"), .ours("MigrationStore"), .ours("Model"), .ours("Provisioning"),
            .ours("Routing"), .ours("Store"),
        ]
    ),
    .library(
        "AppleCalls",
        path: "Sources/Gateway/AppleCalls",
        [
            .ours("APNs"), .ours("ApplePayload"), .ours("DeliveryEngine"), .ours("EngineStore"), .ours("GatewayHTTP"),
            .ours("HTTP2"), .ours("Model"), .ours("Store"),
        ]
    ),
    .library(
        "AnswerShapes",
        path: "Sources/Gateway/AnswerShapes",
        [
            .ours("APNs"), .ours("ApplePayload"), .ours("AudienceStore"), .ours("CaptureStore"), .ours("Commands"),
            .ours("DeliveryEngine"), .ours("EngineStore"), .ours("Explain"), .ours("Migration"),
            .ours("MigrationStore"), .ours("Migrations"), .ours("Model"), .ours("Store"),
        ]
    ),
    .library(
        "NativeHTTP",
        path: "Sources/Gateway/NativeAPI",
        [
            .ours("AudienceStore"), .ours("CaptureStore"), .ours("EngineStore"), .ours("Store"),
            .ours("TemplateStore"),
            .ours("APNs"), .ours("Adapters"), .ours("AnswerShapes"), .ours("AppleCalls"), .ours("ApplePayload"),
            .ours("CallAudit"),
            .ours("Commands"), .ours("DeliveryEngine"), .ours("DeviceFiles"), .ours("Explain"), .ours("GatewayHTTP"),
            .ours("HTTP2"), .ours("Imports"), .ours("Migration"), .ours("MigrationStore"), .ours("Migrations"),
            .ours("Model"), .ours("Observability"), .ours("Outgoing"), .ours("Provisioning"), .ours("Routing"),
            .ours("Secrets"), hummingbird, httpTypes,
            lifecycle, locks, log, metrics, nioCore,
        ]
    ),
    // The web console: accounts, sessions, and the pages of `WebConsole` over calls of the native API in this process.
    .library(
        "ConsoleHTTP",
        path: "Sources/Gateway/Console",
        [
            .ours("AccountStore"), .ours("CallAudit"), .ours("Commands"), .ours("PageParts"), .ours("GatewayHTTP"),
            .ours("Model"), .ours("NativeHTTP"), .ours("Observability"), .ours("Secrets"), .ours("Store"),
            .ours("WebConsole"), crypto, cryptoExtras, hummingbird, httpTypes, lifecycle, locks, log, nioCore, nioPosix,
        ]
    ),
    .library(
        "Gateway",
        path: "Sources/Gateway",
        exclude: [
            "AnswerShapes", "AppleCalls", "CallAudit", "Console", "Explain", "HTTP", "Imports", "Migrations",
            "NativeAPI",
            "Observability",
            "Provisioning", "Secrets",
        ],
        [
            .ours("DatabaseSchema"), .ours("EmbeddedPostgres"), .ours("EngineStore"), .ours("ObservationStore"),
            .ours("PostgresClient"), .ours("Store"),
            .ours("APNs"), .ours("Adapters"), .ours("AppleCalls"), .ours("ApplePayload"), .ours("CallAudit"),
            .ours("AccountStore"), .ours("Commands"), .ours("ConsoleHTTP"), .ours("DeliveryEngine"), .ours("Explain"),
            .ours("Forwarding"), .ours("GatewayHTTP"),
            .ours("HTTP2"), .ours("Imports"), .ours("Migration"), .ours("MigrationStore"), .ours("Migrations"),
            .ours("Model"), .ours("NativeHTTP"), .ours("Observability"), .ours("Outgoing"), .ours("Provisioning"),
            .ours("Routing"),
            .ours("Secrets"), .ours("SignedTokens"), .ours("Traces"), .ours("WebConsole"), .ours("Webhooks"),
            hummingbird, hummingbirdCore,
            nioSSL, tracing,
            .product("Configuration", .configuration),
            .product("SystemPackage", .system), unixSignals, crypto, httpClient, httpTypes, lifecycle, locks, log,
            metrics, nioCore, nioPosix,
        ]
    ),

    // The program: commands, and what they start.
    .library(
        "CommandSupport",
        [
            .ours("Model"), .ours("Outgoing"), certificates, crypto, httpClient, lifecycle, nioCore, nioHTTP1, nioSSL,
            unixSignals, .product("SwiftASN1", .asn1),
        ]
    ),
    .library(
        "GatewayDemo",
        [
            .ours("CommandSupport"), .ours("EmbeddedPostgres"), .ours("Gateway"), .ours("Model"), .ours("Secrets"),
            locks,
        ]
    ),
    .library(
        "GatewayBench",
        [
            .ours("DatabaseSchema"), .ours("EmbeddedPostgres"), .ours("EngineStore"), .ours("PostgresClient"),
            .ours("Store"), .ours("APNs"), .ours("ApplePayload"), .ours("CommandSupport"), .ours("ConsoleHTTP"),
            .ours("PageParts"),
            .ours("DeliveryEngine"), .ours("Gateway"), .ours("HTTP2"), .ours("Imports"),
            .ours("Model"), .ours("Observability"), .ours("PlanCheck"), .ours("Secrets"), .ours("WebConsole"),
            argumentParser, httpClient, locks, log,
            nioCore, nioHTTP1, nioPosix,
        ]
    ),
    .executable(
        "push-gateway",
        [
            .ours("AccountStore"), .ours("CaptureStore"), .ours("ConsoleHTTP"), .ours("DatabaseSchema"),
            .ours("EngineStore"), .ours("PostgresBackup"),
            .ours("PostgresClient"), .ours("Store"), .ours("TransferStore"),
            .ours("Adapters"), .ours("AnswerShapes"), .ours("ApplePayload"), .ours("CommandSupport"),
            .ours("Commands"), .ours("DeviceFiles"),
            .ours("Explain"), .ours("Gateway"), .ours("HTTP2"),
            .ours("GatewayBench"), .ours("GatewayDemo"), .ours("GatewayHTTP"), .ours("Imports"), .ours("Model"),
            .ours("Observability"), .ours("Provisioning"), .ours("Routing"), .ours("Secrets"),
            argumentParser, locks, log,
            metrics,
        ]
    ),

    // A validating APNs server that imports nothing of ours, so that it can disagree with us.
    .library(
        "APNsSimulator",
        [
            certificates, crypto, locks, log, nioCore, nioPosix, nioHTTP1, nioHTTP2, nioSSL,
            .product("NIOHPACK", .nioHTTP2), .product("NIOTLS", .nio), .product("SwiftASN1", .asn1),
        ]
    ),
    .executable("apns-simulator", [.ours("APNsSimulator"), argumentParser, log]),

    // Tests.
    .library(
        "TestKit",
        path: "Tests/Support/TestKit",
        [.ours("Model"), httpTypes, locks]
    ),
    // Vendors that exist only for tests, added as those of the product are.
    .library(
        "TestVendors",
        path: "Tests/Vendors",
        [.ours("Adapters"), .ours("ApplePayload"), .ours("Model"), crypto, httpTypes]
    ),
    .tests(
        "AdaptersTests",
        [
            .ours("Adapters"), .ours("Model"), .ours("ProgramSupport"), .ours("TestKit"), .ours("TestVendors"),
            httpTypes,
        ]
    ),
    // Apart from TestKit, which knows no test framework.
    .library("Coverage", path: "Tests/Coverage", [locks]),
    // Programs that tests run.
    .library("ProgramSupport", path: "Tests/Support/Programs", [locks]),
    .tests("ProgramSupportTests", [.ours("ProgramSupport")]),
    // A private PostgreSQL for tests, and tenants in it.
    .library(
        "DatabaseSupport",
        path: "Tests/Support/Database",
        exclude: ["plan-exceptions.txt", "statements.sql"],
        [
            .ours("DatabaseSchema"), .ours("DeliveryEngine"), .ours("EmbeddedPostgres"), .ours("EngineStore"),
            .ours("Model"), .ours("PlanCheck"), .ours("PostgresClient"), .ours("Store"), .ours("TestKit"), log,
        ]
    ),
    // Shared by the tests and the benchmarks of HTTP/2.
    .library("HTTP2Support", path: "Tests/Support/HTTP2", [.ours("HTTP2")]),
    // An upstream that answers as a test states, and a small dialect that has one.
    .library(
        "UpstreamSupport",
        path: "Tests/Support/Upstream",
        [.ours("Model"), httpTypes, locks, nioCore, nioPosix]
    ),
    // Shared by the two targets of engine tests.
    .library("EngineSupport", path: "Tests/Support/Engine", [.ours("Model")]),
    .tests("ModelTests", [.ours("Model"), .ours("TestKit"), httpTypes]),
    .tests("DeviceFilesTests", [.ours("DeviceFiles"), .ours("Model"), .ours("TestKit")]),
    .tests("MigrationTests", [.ours("Migration"), .ours("Model"), .ours("Routing"), .ours("TestKit")]),
    .tests(
        "WebConsoleTests",
        [
            .ours("ConsoleAdministration"), .ours("ConsoleAudience"), .ours("ConsoleDelivery"),
            .ours("ConsoleOperations"), .ours("PageParts"), .ours("Model"), .ours("TestKit"), .ours("WebConsole"),
        ]
    ),
    .tests("RoutingTests", [.ours("Routing"), .ours("Model"), .ours("ProgramSupport"), .ours("TestKit")]),
    .tests(
        "CommandsTests",
        [
            .ours("Commands"), .ours("DatabaseSchema"), .ours("DatabaseSupport"), .ours("DeliveryEngine"),
            .ours("EngineStore"),
            .ours("Model"), .ours("PostgresClient"), .ours("Store"), .ours("TestKit"),
        ]
    ),
    // Without the store: the thread sanitizer runs it, and takes libpq's client and the child processes of the cluster for races.
    .tests(
        "DeliveryEngineTests",
        [.ours("DeliveryEngine"), .ours("EngineSupport"), .ours("Model"), .ours("TestKit"), .ours("Routing"), locks]
    ),
    .tests(
        "DeliveryEngineStoreTests",
        [
            .ours("DatabaseSupport"), .ours("DeliveryEngine"), .ours("EngineSupport"), .ours("Model"),
            .ours("EngineStore"), .ours("PostgresClient"), .ours("Store"), .ours("TestKit"), lifecycle, locks, log,
        ]
    ),
    .tests(
        "OutgoingTests",
        [
            .ours("Model"), .ours("Outgoing"), .ours("TestKit"), .ours("UpstreamSupport"), certificates, crypto,
            httpClient, httpTypes, locks, nioCore,
            nioHTTP1, nioHTTP2, nioPosix, nioSSL, .product("SwiftASN1", .asn1),
        ]
    ),
    .tests(
        "WebhooksTests",
        [
            .ours("Webhooks"), .ours("Model"), .ours("Outgoing"), .ours("TestKit"), crypto, lifecycle, locks, log,
            nioCore, nioPosix,
            nioHTTP1, httpClient,
        ]
    ),
    .tests(
        "ForwardingTests",
        [.ours("Forwarding"), .ours("Model"), .ours("TestKit"), lifecycle, locks, log]
    ),
    .tests("TracesTests", [.ours("Model"), .ours("Traces"), locks, log, tracing]),
    .tests(
        "HTTP2Tests",
        [
            .ours("Bytes"), .ours("HTTP2"), .ours("HTTP2Support"), .ours("http2-allocation-probe"), .ours("CNGHTTP2"),
            .ours("COpenSSL"),
            .ours("ProgramSupport"), .ours("TestKit"), locks,
        ]
    ),
    // OpenSSL takes other memory functions only in a fresh process.
    .executable(
        "http2-allocation-probe",
        path: "Tests/HTTP2AllocationProbe",
        [.ours("HTTP2"), .ours("COpenSSL"), locks]
    ),
    .tests("ApplePayloadTests", [.ours("ApplePayload"), .ours("Model"), .ours("TestKit")]),
    .tests(
        "APNsTests",
        [
            .ours("APNs"), .ours("APNsSimulator"), .ours("ApplePayload"), .ours("HTTP2"), .ours("Model"),
            .ours("TestKit"), crypto, locks,
        ]
    ),
    .tests(
        "APNsSimulatorTests",
        [
            .ours("APNsSimulator"), .ours("ProgramSupport"), .ours("apns-simulator"), crypto, certificates, nioCore,
            nioPosix, nioHTTP1, nioHTTP2, nioSSL,
            .product("NIOHPACK", .nioHTTP2),
        ],
        resources: [.copy("Clients")]
    ),
    .tests(
        "PostgresTests",
        [
            .ours("AccountStore"), .ours("AudienceStore"), .ours("CaptureStore"), .ours("Commands"),
            .ours("DatabaseSchema"), .ours("DatabaseSupport"),
            .ours("DeliveryEngine"), .ours("EmbeddedPostgres"),
            .ours("EngineStore"), .ours("Model"), .ours("PostgresBackup"), .ours("PostgresClient"), .ours("Routing"),
            .ours("MigrationStore"), .ours("ObservationStore"), .ours("Store"), .ours("TemplateStore"),
            .ours("TestKit"), .ours("TransferStore"), locks, log,
        ],
        resources: [.copy("Fixtures")]
    ),
    .tests("PlanTests", [.ours("DatabaseSupport"), .ours("PlanCheck"), .ours("PostgresClient")]),
    .tests(
        "GatewayTests",
        [
            .ours("DatabaseSupport"), .ours("EngineStore"), .ours("PostgresClient"), .ours("Store"),
            coreMetrics, .ours("APNs"), .ours("AccountStore"), .ours("Adapters"), .ours("AnswerShapes"),
            .ours("CallAudit"),
            .ours("CommandSupport"), .ours("ConsoleHTTP"), .ours("PageParts"), .ours("WebConsole"),
            .ours("Commands"), crypto, cryptoExtras,
            .ours("DeliveryEngine"), .ours("DeviceFiles"), .ours("Explain"), .ours("Gateway"), .ours("GatewayHTTP"),
            .ours("Imports"), .ours("Migration"), .ours("MigrationStore"), .ours("Migrations"),
            .ours("Model"), .ours("NativeHTTP"), .ours("Observability"), .ours("Outgoing"), .ours("Provisioning"),
            .ours("Routing"), .ours("Secrets"),
            .ours("SignedTokens"), .ours("TestKit"), .ours("TransferStore"), .ours("UpstreamSupport"),
            .ours("push-gateway"), argumentParser, hummingbird, httpTypes, locks, log, nioCore, nioHTTP1,
            .product("NIOHTTPTypesHTTP1", .nioExtras),
        ]
    ),
    .tests(
        "IntegrationTests",
        [
            .ours("APNs"), .ours("AccountStore"), .ours("ConsoleHTTP"), .ours("PageParts"), .ours("DatabaseSchema"),
            .ours("EmbeddedPostgres"), .ours("EngineStore"),
            .ours("PostgresClient"),
            .ours("Store"),
            .ours("Adapters"), .ours("CommandSupport"), .ours("Commands"), .ours("Coverage"), .ours("DatabaseSupport"),
            .ours("DeliveryEngine"), .ours("DeviceFiles"), .ours("Explain"), .ours("Gateway"), .ours("GatewayBench"),
            .ours("GatewayDemo"), .ours("GatewayHTTP"),
            .ours("IPNS"), .ours("Imports"), .ours("MigrationStore"), .ours("Migrations"), .ours("Model"),
            .ours("NativeHTTP"), .ours("Observability"),
            .ours("Provisioning"),
            .ours("AppleCalls"), .ours("Forwarding"), .ours("RationalOwl"), .ours("Routing"), .ours("Secrets"),
            .ours("TestKit"),
            .ours("TestVendors"), .ours("UPMC"), .ours("UpstreamSupport"), .ours("WebConsole"),
            .ours("apns-simulator"), .ours("push-gateway"), hummingbird, lifecycle,
            .ours("Outgoing"), .ours("Webhooks"), crypto, cryptoExtras, httpClient, httpTypes, locks, log, nioCore,
            nioHTTP1, nioPosix,
            nioSSL,
        ],
        resources: [.copy("Clients")]
    ),
]

for vendor in vendors {
    parts += [
        .library(
            vendor.name,
            path: "Sources/Adapters/\(vendor.name)",
            [.ours("ApplePayload"), .ours("Model"), httpTypes]
                + vendor.arrows
        ),
        .tests(
            "\(vendor.name)Tests",
            [.ours("Coverage"), .ours(vendor.name), .ours("Model"), .ours("TestKit"), httpTypes] + vendor.arrows,
            resources: [.copy("Fixtures")]
        ),
    ]
}

if withBenchmarks {
    parts += [
        .executable(
            "apns-bench",
            path: "Benchmarks/Load",
            [.ours("APNs"), .ours("ApplePayload"), .ours("Bytes"), .ours("HTTP2"), .ours("Model"), locks]
        ),
        .executable(
            "apns-accept-server",
            path: "Benchmarks/AcceptServer",
            [.ours("CNGHTTP2"), .ours("COpenSSL"), .ours("CLinuxEvents")]
        ),
        .executable("hello-server", path: "Benchmarks/Hello", [.product("Hummingbird", .hummingbird), log]),
        .executable("bench-runner", path: "Benchmarks/Runner", []),
        .executable(
            "micro-bench",
            path: "Benchmarks/Micro",
            [.ours("APNs"), .ours("ApplePayload"), .ours("HTTP2"), .ours("HTTP2Support"), .ours("Model")]
        ),
    ]
}

// MARK: The package

/// The named targets and all they reach, with every test target that reaches nothing else.
func selected(_ parts: [Part], only: Set<String>?) -> [Part] {
    guard let only else { return parts }
    var reached = only
    while true {
        let next = reached.union(parts.filter { reached.contains($0.name) }.flatMap(\.ours))
        if next == reached { break }
        reached = next
    }
    return parts.filter { reached.contains($0.name) }
}

let chosen = selected(parts, only: only)

let package = Package(
    name: "push-gateway",
    products: only == nil
        ? [
            .executable(name: "push-gateway", targets: ["push-gateway"]),
            .executable(name: "apns-simulator", targets: ["apns-simulator"]),
        ] : [],
    dependencies: External.allCases.filter { wanted in
        chosen.flatMap(\.arrows).contains { if case .product(_, wanted) = $0 { true } else { false } }
    }.map(\.package),
    targets: chosen.map(\.target)
)
