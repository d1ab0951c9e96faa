import Commands
import Gateway
import Logging
import Model
import Testing

@testable import GatewayBench

/// The calls of `bench parity`.
@Suite(.timeLimit(.minutes(5))) struct BenchParityTests {
    // The vendor's answers agree with the gateway's, as in a migration that goes on; differences would cost more.
    @Test func theSameCallsAreStoredWithParityAndWithout() async throws {
        try await NativeStage.on { stage in
            let trial = try #require(
                ObservationTrial(
                    stage.database,
                    tenant: NativeStage.tenant,
                    app: "shop",
                    vendor: .rationalOwl,
                    logger: Logger(label: "parity") { _ in SwiftLogNoOpLogHandler() }
                )
            )
            let handler = stage.database.commands
            func figures() async throws -> Set<ParityFigure> {
                let request = ParityRules.shown("shop", since: Timestamp(seconds: 0))
                return Set(try await handler.run(request, in: NativeStage.tenant)?.figures ?? [])
            }
            await trial.observe(trial.prepared(ParityRun.enrolment), compares: false)
            for part in ParityRun.calls(0..<3) { await trial.observe(trial.prepared(part), compares: false) }
            #expect(try await figures().isEmpty)
            for part in ParityRun.calls(3..<6) { await trial.observe(trial.prepared(part), compares: true) }
            let read = "gateway.delivery WHERE tenant_id = 'own' AND read_at IS NOT NULL"
            #expect(try await stage.count(read) == 6)
            let found = try await figures()
            #expect(found.contains(ParityFigure(.responses, samples: 6, differences: 0)), "\(found)")
            #expect(found.contains(ParityFigure(.unknown, samples: 3, differences: 0)), "\(found)")
            #expect(found.contains(ParityFigure(.payload, samples: 3, differences: 0)), "\(found)")
        }
    }
}
