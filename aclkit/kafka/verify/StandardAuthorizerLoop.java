import java.io.BufferedInputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.lang.reflect.Field;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.net.InetAddress;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.acl.AclOperation;
import org.apache.kafka.common.metadata.AccessControlEntryRecord;
import org.apache.kafka.common.metrics.Metrics;
import org.apache.kafka.common.metrics.internals.PluginMetricsImpl;
import org.apache.kafka.common.resource.PatternType;
import org.apache.kafka.common.resource.ResourcePattern;
import org.apache.kafka.common.resource.ResourceType;
import org.apache.kafka.common.security.auth.KafkaPrincipal;
import org.apache.kafka.common.security.auth.SecurityProtocol;
import org.apache.kafka.metadata.authorizer.StandardAcl;
import org.apache.kafka.metadata.authorizer.StandardAuthorizer;
import org.apache.kafka.metadata.authorizer.StandardAuthorizerData;
import org.apache.kafka.server.authorizer.Action;
import org.apache.kafka.server.authorizer.AuthorizableRequestContext;
import org.apache.kafka.server.authorizer.AuthorizationResult;

/**
 * ACLs and requests on stdin -> Kafka's own answers in a file: the other end of wire.py.
 *
 * The decision is what authorize() returns, the rule what its own findAclRule() finds. Every
 * answer is written at once, so that their number tells at which request Kafka hangs.
 *
 * Compiled by Janino, which knows no lambdas and infers no generics.
 */
public final class StandardAuthorizerLoop {
    private static final int INTS = 5;
    private static final int SUPER_USER = -1;
    private static final int DEFAULT_ALLOW = -2;
    private static final int DEFAULT_DENY = -3;
    private static final int A_FEW = 256;

    private final List strings = new ArrayList();
    private final Map principals = new HashMap();
    private final Map addresses = new HashMap();
    private final Map numbers = new HashMap();
    private final StandardAuthorizer authorizer = new StandardAuthorizer();
    private final Method matchingPrincipals;
    private final Method findAclRule;
    private StandardAuthorizerData data;
    private Set superUsers;
    private Field aclOfRule;

    private StandardAuthorizerLoop() throws Exception {
        matchingPrincipals = opened(StandardAuthorizerData.class.getDeclaredMethod(
            "matchingPrincipals", new Class[] {AuthorizableRequestContext.class}));
        findAclRule = opened(StandardAuthorizerData.class.getDeclaredMethod(
            "findAclRule", new Class[] {Set.class, String.class, Action.class}));
    }

    public static void main(String[] args) throws Exception {
        DataInputStream in = new DataInputStream(new BufferedInputStream(System.in, 1 << 16));
        DataOutputStream out = new DataOutputStream(new FileOutputStream(FileDescriptor.out));
        System.setOut(System.err);
        StandardAuthorizerLoop loop = null;
        for (int command = in.read(); command >= 0; command = in.read()) {
            if (command == 'L') {
                loop = new StandardAuthorizerLoop();
                loop.load(in);
                out.writeByte('L');
            } else if (command == 'A') {
                loop.ask(in, args[0]);
                out.writeByte('A');
            } else if (command == 'M') {
                loop.measure(in, out);
            } else {
                throw new IllegalArgumentException("unknown command " + command);
            }
        }
    }

    /** Configures the authorizer as a broker does and gives it the ACLs as records of the log. */
    private void load(DataInputStream in) throws Exception {
        readStrings(in);
        Map config = new HashMap();
        config.put("super.users", text(in.readInt()));
        config.put("allow.everyone.if.no.acl.found", in.readBoolean() ? "true" : "false");
        int count = in.readInt();
        Map acls = new HashMap(2 * count);
        for (int number = 0; number < count; number++) {
            AccessControlEntryRecord record = new AccessControlEntryRecord();
            record.setResourceType(in.readByte());
            record.setPatternType(in.readByte());
            record.setOperation(in.readByte());
            record.setPermissionType(in.readByte());
            record.setResourceName(text(in.readInt()));
            record.setPrincipal(text(in.readInt()));
            record.setHost(text(in.readInt()));
            StandardAcl acl = StandardAcl.fromRecord(record);
            acls.put(new Uuid(0x9E3779B97F4A7C15L * (number + 1), number), acl);
            numbers.put(acl, Integer.valueOf(number));
        }
        authorizer.configure(config);
        authorizer.withPluginMetrics(new PluginMetricsImpl(new Metrics(), new HashMap()));
        authorizer.loadSnapshot(acls);
        authorizer.completeInitialLoad();
        Field field = StandardAuthorizer.class.getDeclaredField("data");
        field.setAccessible(true);
        data = (StandardAuthorizerData) field.get(authorizer);
        Method method = StandardAuthorizerData.class.getDeclaredMethod("superUsers", new Class[0]);
        superUsers = (Set) opened(method).invoke(data, new Object[0]);
    }

    private void ask(DataInputStream in, String path) throws Exception {
        int[] asked = readRequests(in);
        OutputStream answers = new FileOutputStream(path);
        try {
            for (int at = 0; at < asked.length; at += INTS) {
                answers.write(answer(asked, at));
            }
        } finally {
            answers.close();
        }
    }

    /** Returns decision (0 denied, 1 allowed, 2 thrown) and rule, or what was thrown. */
    private byte[] answer(int[] asked, int at) throws Exception {
        try {
            Session session = session(asked, at);
            Action action = action(asked, at);
            List actions = Collections.singletonList(action);
            Object result = authorizer.authorize(session, actions).get(0);
            int rule = rule(session, action);
            return ByteBuffer.allocate(5)
                .put((byte) (result == AuthorizationResult.ALLOWED ? 1 : 0)).putInt(rule).array();
        } catch (InvocationTargetException error) {
            return thrown(error.getTargetException());
        } catch (RuntimeException error) {
            return thrown(error);
        }
    }

    private int rule(Session session, Action action) throws Exception {
        if (superUsers.contains(session.principal().toString())) {
            return SUPER_USER;
        }
        Object mine = matchingPrincipals.invoke(null, new Object[] {session});
        String host = session.clientAddress().getHostAddress();
        Object rule = findAclRule.invoke(data, new Object[] {mine, host, action});
        if (rule.getClass().getSimpleName().equals("MatchingAclRule")) {
            if (aclOfRule == null) {
                aclOfRule = rule.getClass().getDeclaredField("acl");
                aclOfRule.setAccessible(true);
            }
            return ((Integer) numbers.get(aclOfRule.get(rule))).intValue();
        }
        return rule.toString().equals("DefaultAllow") ? DEFAULT_ALLOW : DEFAULT_DENY;
    }

    private static byte[] thrown(Throwable error) throws IOException {
        byte[] text = error.toString().getBytes("UTF-8");
        return ByteBuffer.allocate(5 + text.length)
            .put((byte) 2).putInt(text.length).put(text).array();
    }

    /** Calls authorize() alone, over and over, first to warm up and then on the clock. */
    private void measure(DataInputStream in, DataOutputStream out) throws Exception {
        long nanos = in.readInt() * 1000000L;
        int[] asked = readRequests(in);
        Session[] sessions = new Session[asked.length / INTS];
        List[] actions = new List[sessions.length];
        for (int at = 0; at < sessions.length; at++) {
            sessions[at] = session(asked, at * INTS);
            actions[at] = Collections.singletonList(action(asked, at * INTS));
        }
        spin(sessions, actions, nanos / 2);
        long started = System.nanoTime();
        long decisions = spin(sessions, actions, nanos);
        out.writeLong(decisions);
        out.writeLong(System.nanoTime() - started);
    }

    private long spin(Session[] sessions, List[] actions, long nanos) {
        long decisions = 0;
        int at = 0;
        long end = System.nanoTime() + nanos;
        while (System.nanoTime() < end) {
            for (int few = 0; few < A_FEW; few++) {
                authorizer.authorize(sessions[at], actions[at]);
                at = at + 1 < sessions.length ? at + 1 : 0;
            }
            decisions += A_FEW;
        }
        return decisions;
    }

    private Session session(int[] asked, int at) throws IOException {
        Integer who = Integer.valueOf(asked[at]);
        KafkaPrincipal principal = (KafkaPrincipal) principals.get(who);
        if (principal == null) {
            String text = text(asked[at]);
            int colon = text.indexOf(':');
            principal = new KafkaPrincipal(text.substring(0, colon), text.substring(colon + 1));
            principals.put(who, principal);
        }
        Integer where = Integer.valueOf(asked[at + 1]);
        InetAddress address = (InetAddress) addresses.get(where);
        if (address == null) {
            address = InetAddress.getByName(text(asked[at + 1]));
            addresses.put(where, address);
        }
        return new Session(principal, address);
    }

    private Action action(int[] asked, int at) {
        AclOperation operation = AclOperation.fromCode((byte) asked[at + 2]);
        ResourceType type = ResourceType.fromCode((byte) asked[at + 3]);
        ResourcePattern resource =
            new ResourcePattern(type, text(asked[at + 4]), PatternType.LITERAL);
        return new Action(operation, resource, 1, false, false);
    }

    private String text(int number) {
        return (String) strings.get(number);
    }

    /** Reads further strings; the table of those read before stays. */
    private void readStrings(DataInputStream in) throws IOException {
        int count = in.readInt();
        for (int number = 0; number < count; number++) {
            char[] text = new char[in.readInt()];
            for (int at = 0; at < text.length; at++) {
                text[at] = in.readChar();
            }
            strings.add(new String(text));
        }
    }

    private int[] readRequests(DataInputStream in) throws IOException {
        readStrings(in);
        byte[] bytes = new byte[4 * INTS * in.readInt()];
        in.readFully(bytes);
        int[] asked = new int[bytes.length / 4];
        ByteBuffer.wrap(bytes).asIntBuffer().get(asked);
        return asked;
    }

    private static Method opened(Method method) {
        method.setAccessible(true);
        return method;
    }

    /** What authorize() reads of a session: the principal and the address. */
    private static final class Session implements AuthorizableRequestContext {
        private final KafkaPrincipal principal;
        private final InetAddress address;

        Session(KafkaPrincipal principal, InetAddress address) {
            this.principal = principal;
            this.address = address;
        }

        public String listenerName() {
            return "";
        }

        public SecurityProtocol securityProtocol() {
            return SecurityProtocol.PLAINTEXT;
        }

        public KafkaPrincipal principal() {
            return principal;
        }

        public InetAddress clientAddress() {
            return address;
        }

        public int requestType() {
            return 0;
        }

        public int requestVersion() {
            return 0;
        }

        public String clientId() {
            return "";
        }

        public int correlationId() {
            return 0;
        }
    }
}
