use super::{
    Claude, Voice,
    blocks::{Base, Made, quiet},
    envelope::{Envelope, first_text, uuid_key},
    tree::{Kept, Node, Role},
    user,
};
use crate::{
    format::{Line, json::Raw, text_weight},
    model::{Boundary, Event, Flags, Kind, LaneId, Log, NoteKind, RecordId, Sym, Usage},
};

/// Attachments of which the model gets nothing, where the line does not say what was rendered.
const SILENT: [&str; 5] = ["prompt_snapshot", "session_context", "date", "hook_success", "hook_deferred_tool"];

impl Claude {
    /// A line that has its place in the tree.
    pub(super) fn tree_line(&mut self, kind: &str, env: &Envelope<'_>, line: &Line<'_>, log: &mut Log) {
        let uuid = env.text("uuid");
        // A copy without uuids still has an order: such a line is named by its place.
        let key = uuid.as_deref().map_or_else(|| uuid_key(&format!("\0{}", line.offset)), uuid_key);
        let repeat = self.tree.find(key).is_some();
        let lane = self.lane(env, uuid.as_deref(), log);
        let flags = Flags::NONE.with_if(Flags::REPEAT, repeat);
        let mut base = Base { time: env.time(), lane, flags, response: None, message: None };
        let message = env.object("message");
        if message.as_ref().is_some_and(|m| m.get("content").is_some_and(|c| c.items().nth(1).is_some())) {
            base.message = Some(log.syms.intern(uuid.as_deref().unwrap_or("")));
        }
        let first = log.next_id();
        let (role, made) = match kind {
            "assistant" => self.assistant(env, message, line, &mut base, log),
            "user" => self.user(env, message.as_ref(), line, base, log),
            "system" => self.system(env, line, base, log),
            "attachment" => (Role::Notice, self.attachment(env, line, base, log)),
            _ => {
                log.push(base.fill(quiet(line, Kind::Notice, env.get("data").unwrap_or(line.value))));
                (Role::Link, Made::default())
            }
        };
        if repeat {
            let text = "A record with this uuid stands on an earlier line; the first one counts.";
            log.note(NoteKind::DuplicateUuid, line.number, text);
            if let Some(old) = self.tree.find(key).filter(|_| !line.salvaged && lane == LaneId::MAIN) {
                self.tree.moves.push(super::tree::Move::Again(old));
            }
            return;
        }
        if line.salvaged {
            return;
        }
        let node = Node {
            uuid: key,
            parent: self.parent(env),
            time: base.time,
            records: (first, log.next_id()),
            response: base.response,
            line: line.number,
            lane,
            role: if role == Role::Boundary && lane != LaneId::MAIN { Role::Notice } else { role },
            calls: !made.calls.is_empty(),
        };
        self.live.arrived(&self.tree, &node, true);
        let id = self.tree.insert(node, &made.calls, &made.answers, true);
        if let Some(behind) = env.text("logicalParentUuid").filter(|_| role == Role::Boundary) {
            self.tree.behind.insert(id, uuid_key(&behind));
        }
        if lane == LaneId::MAIN && role != Role::Link && log.next_id() > first {
            self.newest_main = Some(log.next_id() - 1);
        }
    }

    /// A line of an unknown type never breaks the chain that runs through it.
    pub(super) fn unknown_link(&mut self, env: &Envelope<'_>, line: &Line<'_>, id: RecordId, log: &mut Log) {
        let Some(uuid) = env.text("uuid").filter(|_| !line.salvaged) else { return };
        let key = uuid_key(&uuid);
        if self.tree.find(key).is_some() {
            return;
        }
        let lane = self.lane(env, Some(&uuid), log);
        if let Some(record) = log.records.get_mut(id as usize) {
            record.lane = lane;
            record.time = env.time();
        }
        let node = Node {
            uuid: key,
            parent: self.parent(env),
            time: env.time(),
            records: (id, id + 1),
            response: None,
            line: line.number,
            lane,
            role: Role::Link,
            calls: false,
        };
        self.live.arrived(&self.tree, &node, false);
        self.tree.insert(node, &[], &[], false);
    }

    fn parent(&self, env: &Envelope<'_>) -> u128 {
        match env.get("parentUuid") {
            Some(parent) => parent.str().map_or(0, |parent| uuid_key(&parent)),
            // `--output-format stream-json` writes no parents: every line follows the one before.
            None if !env.has("sessionId") || !env.has("uuid") => self.tree.newest_main().map_or(0, |node| node.uuid),
            None => 0,
        }
    }

    /// The thread of a line. The first line decides which one is the main lane: in a file of a sub-agent it is that
    /// agent's own.
    fn lane(&mut self, env: &Envelope<'_>, uuid: Option<&str>, log: &mut Log) -> LaneId {
        let parent_call = env.text("parent_tool_use_id");
        if !env.flag("isSidechain") && parent_call.is_none() {
            return log.lane("main");
        }
        let agent = env.text("agentId");
        self.agent_file |= log.lanes.is_empty();
        self.compaction_run |= log.lanes.is_empty() && agent.as_ref().is_some_and(|id| id.starts_with("acompact"));
        if log.lanes.is_empty() && self.compaction_run {
            let text = "This file is the log of a compaction run, not of a sub-agent.";
            log.note(NoteKind::Format, 0, text);
            self.facts.generation = Some("compaction run");
        }
        if let Some(name) = agent.or(parent_call) {
            return log.lane(&name);
        }
        let parent = self.tree.find(self.parent(env)).and_then(|id| self.tree.node(id));
        match parent.filter(|node| !node.is_main() || self.agent_file) {
            Some(node) => node.lane,
            // 1.0 writes sub-agents into the main file, without a name: the first line of each names it.
            None => log.lane(uuid.unwrap_or("sub-agent")),
        }
    }

    fn assistant(
        &mut self,
        env: &Envelope<'_>,
        message: Option<Envelope<'_>>,
        line: &Line<'_>,
        base: &mut Base,
        log: &mut Log,
    ) -> (Role, Made) {
        let message = message.unwrap_or_else(|| Envelope::of(line.value));
        let model = message.text("model");
        let api_error = env.flag("isApiErrorMessage");
        let local = api_error || model.as_deref() == Some("<synthetic>");
        base.flags = base.flags.with_if(Flags::LOCAL, local);
        base.response = Some(match message.text("id") {
            Some(id) => log.syms.intern(&id),
            None => self.unnamed_response(env, log),
        });
        let first = log.next_id();
        let content = message.get("content").unwrap_or(line.value);
        let made = self.assistant_blocks(line, content, *base, log);
        if !base.flags.has(Flags::REPEAT) && log.next_id() > first {
            if (!local || api_error)
                && self.retrying.remove(&base.lane)
                && let Some(record) = log.records.get_mut(first as usize)
            {
                record.flags = record.flags.with(Flags::SETTLES_RETRY);
            }
            if !local && base.lane == LaneId::MAIN {
                self.facts.model = model.map(std::borrow::Cow::into_owned).or(self.facts.model.take());
                self.usage(&message, base.response, log);
            }
        }
        (if api_error { Role::ApiError } else { Role::Response }, made)
    }

    /// Copies by third parties drop the ids of messages: lines that hang on each other are one message then.
    fn unnamed_response(&self, env: &Envelope<'_>, log: &mut Log) -> Sym {
        let parent = self.tree.find(self.parent(env)).and_then(|id| self.tree.node(id));
        let same = parent.filter(|node| node.role == Role::Response).and_then(|node| node.response);
        same.filter(|sym| log.syms.name(*sym).starts_with('\0')).unwrap_or_else(|| {
            let name = format!("\0{}", log.records.len());
            log.syms.intern(&name)
        })
    }

    /// The numbers of the last line of a message are final, those of earlier lines provisional.
    fn usage(&mut self, message: &Envelope<'_>, response: Option<Sym>, log: &mut Log) {
        let Some(raw) = message.get("usage").filter(|usage| usage.is_object()) else { return };
        let whole = Envelope::of(raw);
        // With server-side loops the sums cover several requests; the last one of type message is the context.
        let last =
            whole.get("iterations").and_then(|list| list.items().filter(|i| i.field_is("type", "message")).last());
        let usage = last.map_or(whole, Envelope::of);
        let number = |name: &str| usage.number(name).unwrap_or(0);
        let input = ["input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens"]
            .map(number)
            .into_iter()
            .fold(0, u64::saturating_add);
        let entry = Usage {
            record: log.next_id().saturating_sub(1),
            lane: LaneId::MAIN,
            input,
            output: number("output_tokens"),
            window: None,
            estimated: false,
        };
        // A fork zeroes the numbers of what it copies: that is no measurement.
        if entry.input == 0 && entry.output == 0 {
            return;
        }
        match log.usage.last_mut().filter(|_| self.measured == response) {
            Some(old) => *old = entry,
            None => log.usage.push(entry),
        }
        self.measured = response;
    }

    fn user(
        &mut self,
        env: &Envelope<'_>,
        message: Option<&Envelope<'_>>,
        line: &Line<'_>,
        base: Base,
        log: &mut Log,
    ) -> (Role, Made) {
        let content = message.and_then(|message| message.get("content")).unwrap_or(line.value);
        if content.items().any(|block| block.field_is("type", "tool_result")) {
            return (Role::Carrier, self.carrier_blocks(line, env, content, base, log));
        }
        let Voice { kind, flags, role } = user::voice(env, &first_text(content), env.flag("isSidechain"));
        self.user_blocks(line, content, kind, Base { flags: base.flags.with(flags), ..base }, log);
        (role, Made::default())
    }

    fn system(&mut self, env: &Envelope<'_>, line: &Line<'_>, base: Base, log: &mut Log) -> (Role, Made) {
        let subtype = env.text("subtype").unwrap_or_default();
        let block = env.get("content").unwrap_or(line.value);
        if subtype == "local_command" {
            // The echo of a command as a system line: the model gets its text.
            let base = Base { flags: base.flags.with(Flags::META), ..base };
            log.push(base.fill(line.record(Kind::User, block)));
            return (Role::Meta, Made::default());
        }
        log.push(base.fill(quiet(line, Kind::Notice, line.value)));
        let new = !base.flags.has(Flags::REPEAT);
        match &*subtype {
            "api_error" if new => {
                self.retrying.insert(base.lane);
                let id = log.syms.intern("api-error");
                log.event(Event::RetryOpen(id));
            }
            "compact_boundary" => {
                if new && !line.salvaged && base.lane == LaneId::MAIN {
                    self.boundary(env, line, log);
                }
                return (Role::Boundary, Made::default());
            }
            _ => {}
        }
        (Role::Notice, Made::default())
    }

    fn boundary(&mut self, env: &Envelope<'_>, line: &Line<'_>, log: &mut Log) {
        self.tree.kept.clear();
        // stream-json writes the same in snake case.
        let metadata = env.object("compactMetadata").or_else(|| env.object("compact_metadata"));
        let number =
            |name: &str, other: &str| metadata.as_ref().and_then(|m| m.number(name).or_else(|| m.number(other)));
        let automatic = metadata.as_ref().is_some_and(|metadata| metadata.is("trigger", "auto"));
        log.boundaries.push(Boundary { line: line.number, before: number("preTokens", "pre_tokens"), automatic });
        let Some(metadata) = metadata else { return };
        let key = |env: &Envelope<'_>, name: &str| env.text(name).map(|uuid| uuid_key(&uuid));
        if let Some(kept) = metadata.object("preservedMessages")
            && let (Some(anchor), Some(list)) = (key(&kept, "anchorUuid"), kept.get("uuids"))
        {
            let uuids = list.items().filter_map(Raw::str).map(|uuid| uuid_key(&uuid)).collect();
            self.tree.kept.push(Kept::List { anchor, uuids });
        }
        if let Some(kept) = metadata.object("preservedSegment")
            && let (Some(anchor), Some(head), Some(tail)) =
                (key(&kept, "anchorUuid"), key(&kept, "headUuid"), key(&kept, "tailUuid"))
        {
            self.tree.kept.push(Kept::Segment { anchor, head, tail });
        }
    }

    fn attachment(&mut self, env: &Envelope<'_>, line: &Line<'_>, base: Base, log: &mut Log) -> Made {
        let block = env.get("attachment").unwrap_or(line.value);
        let inner = Envelope::of(block);
        let name = inner.text("type").unwrap_or_default();
        let mut record = base.fill(quiet(line, Kind::Notice, block));
        let read = env.get("rendered").or_else(|| Some(block).filter(|_| !SILENT.contains(&&*name)));
        if let Some(weight) = read.map(text_weight) {
            (record.text, record.tokens) = (weight.bytes, weight.tokens);
        }
        let call = inner.text("toolUseID").or_else(|| inner.text("toolUseId"));
        log.push(record);
        if base.flags.has(Flags::REPEAT) {
            return Made::default();
        }
        match &*name {
            "hook_deferred_tool" => {
                if let Some(call) = call.map(|call| log.syms.intern(&call)) {
                    self.tree.deferred.insert(call);
                    log.event(Event::Deferred(call));
                }
            }
            "task_status" => {
                if let Some(event) = self.tasks.status(&inner, log) {
                    log.event(event);
                }
            }
            "queued_command" => {
                let prompt = inner.get("prompt").map(first_text).unwrap_or_default();
                for id in self.tasks.notified(&prompt, log) {
                    log.event(Event::TaskEnded { id, delivered: true });
                }
            }
            _ => {}
        }
        Made::default()
    }
}
