import ConsoleDelivery
import PageParts

enum NodesText {
    static let title = Text(ko: "노드·대기열", en: "Nodes and queue")
    static let nodes = Text(ko: "노드", en: "Nodes")
    static let node = Text(ko: "노드", en: "Node")
    static let started = Text(ko: "시작", en: "Started")
    static let seen = Text(ko: "마지막 신호", en: "Last heartbeat")
    static let alive = Text(ko: "작동 중", en: "Running")
    static let late = Text(ko: "신호 없음", en: "No heartbeat")
    static let queue = Text(ko: "대기열", en: "Queue")
    static let lane = Text(ko: "우선순위", en: "Lane")
    static let due = Text(ko: "발신할 묶음", en: "Slices due")
    static let open = Text(ko: "남은 묶음", en: "Slices open")
    static let oldest = Text(ko: "가장 오래 기다린 시간", en: "Oldest due")
    static let paused = Text(ko: "일시 중지", en: "Paused")
    static let running = Text(ko: "발신 중", en: "Sending")
    static let idle = Text(ko: "비어 있음", en: "Empty")
    static let sliceNote = Text(
        ko: "묶음 하나는 약 500건입니다. 이 테넌트의 대기열입니다.",
        en: "A slice has about 500 targets. The queue is that of this tenant."
    )
    static let held = Text(ko: "인증서·키 때문에 멈춘 발신", en: "Waiting for a credential")
    static let slices = Text(ko: "묶음", en: "Slices")
    static let noNodes = Text(ko: "작동 중인 노드가 없습니다.", en: "No node is running.")
    static let noNodesStep = Text(ko: "노드를 시작하면 여기에 표시됩니다.", en: "A node appears here when it is started.")
    static let noLanes = Text(ko: "아직 발신한 메시지가 없습니다.", en: "Nothing has been sent yet.")
    static let noLanesStep = Text(ko: "메시지를 발신하면 대기열이 표시됩니다.", en: "The queue appears when a message is sent.")

    static func laneName(_ lane: String) -> Text {
        switch lane {
        case "urgent": Text(ko: "긴급", en: "Urgent")
        case "transactional": Text(ko: "거래", en: "Transactional")
        case "bulk": Text(ko: "대량", en: "Bulk")
        case "background": Text(ko: "배경", en: "Background")
        default: Text(ko: lane, en: lane)
        }
    }

    // MARK: Sentences

    static func heldBy(_ credential: String, _ slices: String) -> Text {
        Text(
            ko: "\(credential) 인증서·키가 거절되어 묶음 \(slices)개의 발신이 멈췄습니다.",
            en: "\(slices, one: "slice waits", many: "slices wait") because credential \(credential) is refused."
        )
    }

    static func silent(_ node: String, _ ago: String) -> Text {
        Text(
            ko: "\(node) 노드의 마지막 신호가 \(ago)입니다. 노드를 확인하세요.",
            en: "The node \(node) sent its last heartbeat \(ago). Check it."
        )
    }

    static func lanePaused(_ lane: String, _ open: String) -> Text {
        Text(
            ko: "\(lane) 발신이 일시 중지되어 묶음 \(open)개가 기다립니다.",
            en: "The lane \(lane) is paused; \(open, one: "slice is", many: "slices are") waiting."
        )
    }

    static func busy(_ nodes: String, _ due: String, _ age: String) -> Text {
        Text(
            ko: "노드 \(nodes)개가 작동 중이며 발신할 묶음 \(due)개가 있습니다. 가장 오래 기다린 시간은 \(age)입니다.",
            en:
                "\(nodes, one: "node is", many: "nodes are") running; \(due, one: "slice is", many: "slices are") due, the oldest for \(age)."
        )
    }

    static func calm(_ nodes: String) -> Text {
        Text(
            ko: "노드 \(nodes)개가 작동 중이며 대기열은 비어 있습니다.",
            en: "\(nodes, one: "node is", many: "nodes are") running; the queue is empty."
        )
    }
}
