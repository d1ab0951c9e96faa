import PageParts

enum MigrationsText {
    static let title = Text(ko: "마이그레이션", en: "Migrations")
    static let migration = Text(ko: "마이그레이션", en: "Migration")
    static let from = Text(ko: "이전 벤더", en: "From")
    static let step = Text(ko: "단계", en: "Step")
    static let steps = Text(ko: "단계", en: "Steps")
    static let since = Text(ko: "시작", en: "Since")
    static let minimum = Text(ko: "최소 기간", en: "At least")
    static let gates = Text(ko: "통과 조건", en: "Gates")
    static let gatesNote = Text(
        ko: "지금 측정한 값입니다. 표본이 부족하면 통과도 실패도 아닙니다.",
        en: "Measured now. Too few samples neither pass nor fail a gate."
    )
    static let noGates = Text(ko: "이 단계에는 통과 조건이 없습니다.", en: "This step has no gates.")
    static let metric = Text(ko: "항목", en: "Metric")
    static let value = Text(ko: "값", en: "Value")
    static let samples = Text(ko: "표본", en: "Samples")
    static let limit = Text(ko: "기준", en: "Limit")
    static let result = Text(ko: "결과", en: "Result")
    static let passed = Text(ko: "통과", en: "Passed")
    static let failed = Text(ko: "실패", en: "Failed")
    static let failedRecently = Text(ko: "최근 15~30분 실패", en: "Failed in the last quarter hours")
    static let history = Text(ko: "변경 이력", en: "History")
    static let current = Text(ko: "진행 중", en: "In force")
    static let done = Text(ko: "완료", en: "Done")
    static let upcoming = Text(ko: "예정", en: "To come")
    static let notChecked = Text(ko: "확인하지 않음", en: "not checked")
    static let reason = Text(ko: "사유", en: "Reason")
    static let remaining = Text(ko: "남은 시간", en: "Time left")
    static let clockStopped = Text(ko: "시간이 흐르지 않음", en: "The clock is stopped")
    static let over = Text(ko: "최소 기간이 지남", en: "The minimum is over")
    static let waiting = Text(ko: "벤더로 아직 전달되지 않은 호출", en: "Calls that wait for the vendor")
    static let oldest = Text(ko: "가장 오래 기다린 시간", en: "The oldest waits for")
    static let missesCalls = Text(
        ko: "대기 호출이 너무 많아 일부가 빠질 수 있습니다. 되돌리기 전에 벤더에 단말을 반영하세요.",
        en:
            "So many calls wait that further ones are left out. Bring the vendor's devices up to date before a rollback."
    )
    static let facts = Text(ko: "마이그레이션 정보", en: "The migration")
    static let plan = Text(ko: "계획", en: "Plan")
    static let start = Text(ko: "시작", en: "Start migration")
    static let advance = Text(ko: "다음 단계로", en: "Advance to the next step")
    static let pause = Text(ko: "일시 중지", en: "Pause migration")
    static let resume = Text(ko: "다시 시작", en: "Resume migration")
    static let rollback = Text(ko: "되돌리기", en: "Roll back sends")
    static let rollbackFull = Text(ko: "전체 되돌리기", en: "Roll back everything")
    static let complete = Text(ko: "마이그레이션 종료", en: "Complete migration")
    static let changed = Text(ko: "변경했습니다.", en: "The migration was changed.")
    static let parity = Text(ko: "응답 일치도", en: "Parity")
    static let byFile = Text(ko: "규칙 버전", en: "Rules")
    static let empty = Text(ko: "아직 마이그레이션이 없습니다.", en: "There are no migrations yet.")
    static let emptyStep = Text(
        ko: "계획 파일을 만들고 명령줄에서 점검하면 여기에 표시됩니다.",
        en: "Write a plan and check it on the command line; it then appears here."
    )

    static func startQuestion(_ stage: String) -> Text {
        Text(
            ko: "첫 단계(\(stage))를 시작합니다. 앱의 라우팅 규칙이 바뀝니다.",
            en: "The first step (\(stage)) comes into force. It changes the app's routes."
        )
    }

    static func advanceQuestion(_ next: String) -> Text {
        Text(
            ko: "다음 단계(\(next))로 넘어갑니다. 통과 조건을 다시 확인한 뒤 라우팅 규칙을 바꿉니다.",
            en: "The next step (\(next)) comes into force if each gate passes now. It changes the app's routes."
        )
    }

    static func rollbackQuestion(_ waiting: String) -> Text {
        Text(
            ko: "발신을 다시 벤더로 보냅니다. 단말 등록과 조회는 게이트웨이가 계속 처리합니다. 벤더로 전달할 호출이 \(waiting)건 대기 중입니다.",
            en:
                "Sends go through the vendor again; devices and reads are still served here. \(waiting, one: "call waits", many: "calls wait") for the vendor."
        )
    }

    static func rollbackFullQuestion(_ waiting: String) -> Text {
        Text(
            ko: "모든 호출을 다시 벤더로 보냅니다. 벤더로 전달할 호출이 \(waiting)건 대기 중입니다.",
            en:
                "Every call is proxied to the vendor again. \(waiting, one: "call waits", many: "calls wait") for the vendor."
        )
    }

    static let completeQuestion = Text(
        ko: "벤더를 더 이상 사용하지 않습니다. 이후에는 되돌릴 수 없습니다.",
        en: "The vendor is not used any longer. A rollback is impossible afterwards."
    )

    // MARK: Words of the API

    static func stage(_ stage: String) -> Text {
        switch stage {
        case "observe": return Text(ko: "관찰", en: "Observe")
        case "serve": return Text(ko: "단말·조회 처리", en: "Serve devices and reads")
        case "hold": return Text(ko: "전체 발신, 되돌리기 가능", en: "All sends, rollback possible")
        case "complete": return Text(ko: "종료", en: "Complete")
        default: break
        }
        guard let percent = EnglishSentence.middle(of: stage, "rollout ", " %") else {
            return Text(ko: stage, en: stage)
        }
        return Text(ko: "발신 \(percent)%", en: "\(percent)% of sends")
    }

    static func status(_ status: String) -> Text {
        switch status {
        case "planned": Text(ko: "계획됨", en: "Planned")
        case "running": Text(ko: "진행 중", en: "In progress")
        case "paused": Text(ko: "일시 중지", en: "Paused")
        case "halted": Text(ko: "조건 실패로 멈춤", en: "Halted")
        case "rolledBack": Text(ko: "되돌림", en: "Rolled back")
        case "rolledOut": Text(ko: "전체 발신 중", en: "Rolled out")
        case "completed": Text(ko: "종료됨", en: "Completed")
        default: Text(ko: status, en: status)
        }
    }

    static func mark(_ status: String) -> Mark {
        switch status {
        case "running", "rolledOut": .info
        case "paused", "rolledBack": .warn
        case "halted": .bad
        case "completed": .ok
        default: .idle
        }
    }

    static func metricName(_ metric: String) -> Text {
        switch metric {
        case "observed": Text(ko: "이해한 호출", en: "Calls understood")
        case "responses": Text(ko: "응답 일치", en: "Answers that agree")
        case "devices": Text(ko: "다른 단말", en: "Devices that differ")
        case "reach": Text(ko: "발신 가능한 대상", en: "Targets within reach")
        case "backlog": Text(ko: "가장 오래 대기한 호출", en: "Oldest waiting call")
        case "failures": Text(ko: "실패한 발신", en: "Failed pushes")
        case "p99": Text(ko: "발신 지연 p99", en: "Latency p99")
        case "receipts": Text(ko: "수신 확인 비율", en: "Receipts compared")
        case "unknown": Text(ko: "알 수 없는 수신 확인", en: "Receipts of unknown messages")
        case "optOuts": Text(ko: "반영한 수신 거부", en: "Opt-outs imported")
        case "senders": Text(ko: "인증할 수 있는 발신", en: "Sends with a proof")
        case "payload": Text(ko: "보낼 수 없는 페이로드", en: "Payloads refused or shortened")
        default: Text(ko: metric, en: metric)
        }
    }

    static func missing(_ count: String) -> Text {
        Text(ko: "표본 \(count)개 부족", en: "\(count, one: "sample") missing")
    }

    static func moreFrom(_ metric: String) -> Text {
        switch metric {
        case "receipts", "unknown":
            Text(
                ko: "단말의 수신 확인이 도착하면 표본이 늘어납니다.",
                en: "Each receipt of a device is a sample."
            )
        case "failures", "p99", "senders", "reach":
            Text(ko: "발신하면 표본이 늘어납니다.", en: "Each send is a sample.")
        case "devices":
            Text(
                ko: "push-gateway devices import --compare로 벤더의 단말 목록을 비교하세요. 결과는 24시간 유효합니다.",
                en:
                    "Compare the vendor's export with push-gateway devices import --compare. The result counts for 24 hours."
            )
        case "optOuts":
            Text(ko: "벤더의 수신 거부를 가져오세요.", en: "Import the opt-outs of the vendor.")
        default: Text(ko: "호출이 도착하면 표본이 늘어납니다.", en: "Each call is a sample.")
        }
    }

    // MARK: Sentences

    static func halted(_ id: String, _ reason: String) -> Text {
        Text(ko: "\(id) 마이그레이션이 멈췄습니다. \(reason)", en: "Migration \(id) is halted. \(reason)")
    }

    static func rolledBack(_ id: String, _ reason: String) -> Text {
        Text(
            ko: "\(id) 마이그레이션을 되돌려 벤더가 다시 발신합니다. \(reason)",
            en: "Migration \(id) was rolled back; the vendor sends again. \(reason)"
        )
    }

    static func paused(_ id: String, _ stage: String) -> Text {
        Text(
            ko: "\(id) 마이그레이션이 일시 중지되었습니다. 현재 단계의 규칙은 유지됩니다: \(stage).",
            en: "Migration \(id) is paused. The rules of its step stay in force: \(stage)."
        )
    }

    static func planned(_ id: String) -> Text {
        Text(
            ko: "\(id) 마이그레이션은 아직 시작하지 않았습니다.",
            en: "Migration \(id) has not begun. Nothing has changed yet."
        )
    }

    static func completed(_ id: String, _ time: String) -> Text {
        Text(ko: "\(id) 마이그레이션이 \(time)에 끝났습니다.", en: "Migration \(id) was completed on \(time).")
    }

    static func ready(_ id: String, _ stage: String) -> Text {
        Text(
            ko: "\(id): \(stage) 단계의 조건을 모두 통과했습니다. 다음 단계로 넘어갈 수 있습니다.",
            en: "\(id): the step is complete and each gate passes (\(stage)). Advance to the next step."
        )
    }

    static func failing(_ id: String, _ metrics: String) -> Text {
        Text(
            ko: "\(id): 통과하지 못한 조건이 있습니다(\(metrics)). 두 번 연속 실패하면 멈춥니다.",
            en: "\(id): a gate fails (\(metrics)). The step halts when it fails twice in a row."
        )
    }

    static func tooFew(_ id: String, _ metrics: String) -> Text {
        Text(
            ko: "\(id): 표본이 부족해 다음 단계로 넘어갈 수 없습니다. \(metrics)",
            en: "\(id): too few samples to advance. \(metrics)"
        )
    }

    static func running(_ id: String, _ stage: String, _ left: String) -> Text {
        Text(
            ko: "\(id): \(stage) 단계가 진행 중입니다. 남은 시간은 \(left)입니다.",
            en: "\(id): the step is in force (\(stage)); \(left) left."
        )
    }

    static func active(_ count: String) -> Text {
        Text(
            ko: "진행 중인 마이그레이션이 \(count)개 있습니다.",
            en: "\(count, one: "migration is", many: "migrations are") in progress."
        )
    }

    static let changedMeanwhile = Text(
        ko: "이 페이지를 연 뒤 마이그레이션의 상태나 단계가 바뀌었습니다. 요청은 처리되지 않았습니다. 현재 상태를 확인한 뒤 다시 결정하세요.",
        en:
            "The state or the step of the migration changed after you opened the page. Your request was not carried out. Look at the present state, then decide again."
    )

    static let noneActive = Text(ko: "진행 중인 마이그레이션이 없습니다.", en: "No migration is in progress.")
}
