import Adapters
import CommandSupport
import Model
import NIOHTTP1
import Testing

/// Plans of migrations from each vendor, checked by the node's provisioner: what cannot be measured must be given up by name (docs/migrating.md).
@Suite(.timeLimit(.minutes(5))) struct VendorPlanTests {
    private struct Leaving {
        var vendor: Vendor
        /// Whether receipts of the vendor's own messages reach the gateway, by docs/migrating.md and docs/migration.md.
        var reportsReceipts: Bool
        var credential: JSON
    }

    private static let all = [
        Leaving(
            vendor: .upmc,
            reportsReceipts: true,
            credential: ["kind": "upstream-upmc", "url": "https://push.example.com"]
        ),
        Leaving(
            vendor: .ipns,
            reportsReceipts: true,
            credential: ["kind": "upstream-ipns", "url": "https://ipns.example.com", "apiKey": "a-key"]
        ),
        Leaving(
            vendor: .rationalOwl,
            reportsReceipts: true,
            credential: ["kind": "upstream-rationalowl", "url": "https://ums.example.com"]
        ),
        Leaving(
            vendor: .braze,
            reportsReceipts: false,
            credential: ["kind": "upstream-braze", "url": "https://rest.example.com", "restKey": "a-key"]
        ),
        Leaving(
            vendor: .notificationHubs,
            reportsReceipts: false,
            credential: [
                "kind": "upstream-notificationhubs", "url": "https://shop.servicebus.windows.net", "hub": "shop",
                "keyName": "full", "key": "a-key",
            ]
        ),
    ]

    private static let measured: JSON = ["failures": "none", "receipts": ">= 0.97", "unknown": "<= 0.001"]
    private static let waived: JSON = ["failures": "none", "receipts": "none", "unknown": "none"]
    private static let silent: JSON = ["failures": "none"]

    private static func plan(from vendor: Vendor, _ gates: JSON) -> JSON {
        [
            "migration": ["id": "leave", "app": "shop", "from": .string("old-\(vendor)")],
            "steps": [
                ["stage": "observe", "gates": ["senders": ">= 1"]], ["stage": "serve"],
                ["stage": "rollout", "percent": 50, "gates": gates],
            ],
        ]
    }

    /// The faults of a plan, which is not stored.
    private static func faults(_ stage: NativeStage, from vendor: Vendor, _ gates: JSON) async throws -> [String] {
        let answer = try await stage.native(.POST, "/v1/migrations?dryRun=true", plan(from: vendor, gates))
        try #require(answer.status == 200, "\(vendor): \(answer.text)")
        return (answer.json?["faults"]?.array ?? []).compactMap(\.string)
    }

    private static func unmeasurable(_ metric: String) -> String {
        "steps[2]: \(metric): cannot be measured for this vendor; give it up by name with '\(metric): none'"
    }

    @Test func aPlanCannotCountReceiptsThatAVendorKeeps() async throws {
        try await NativeStage.on { stage in
            for leaving in Self.all {
                let vendor = leaving.vendor
                let made = try await stage.native(.PUT, "/v1/credentials/old-\(vendor)", leaving.credential)
                try #require(made.status == 201, "\(vendor): \(made.text)")
                let found = try await Self.faults(stage, from: vendor, Self.measured)
                let expected = leaving.reportsReceipts ? [] : ["receipts", "unknown"].map(Self.unmeasurable)
                #expect(found == expected, "\(vendor)")
                let stored = try await stage.native(.POST, "/v1/migrations", Self.plan(from: vendor, Self.measured))
                #expect(stored.status == (leaving.reportsReceipts ? 200 : 422), "\(vendor): \(stored.text)")
                let isNamed = stored.text.contains("receipts: cannot be measured for this vendor")
                #expect(isNamed == !leaving.reportsReceipts, "\(vendor): \(stored.text)")

                // To leave them out is not enough.
                let silent = try await Self.faults(stage, from: vendor, Self.silent)
                #expect(silent.count == 2, "\(silent)")
                #expect(silent.first?.hasPrefix("steps[2]: receipts: is needed in a rollout") == true, "\(silent)")
                #expect(silent.last?.hasPrefix("steps[2]: unknown: is needed in a rollout") == true, "\(silent)")
                #expect(try await Self.faults(stage, from: vendor, Self.waived) == [], "\(vendor)")
            }
        }
    }

    @Test func theDialectsStateWhetherTheyReportReceipts() {
        let stated = VendorCatalog.product.upstreams.mapValues { $0.reportsReceipts }
        #expect(stated == Dictionary(uniqueKeysWithValues: Self.all.map { ($0.vendor, $0.reportsReceipts) }))
    }
}
